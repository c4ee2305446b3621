// Keys, and the console's sessions over them, without routes: how they begin, are checked and end. The operator command needs no more of
// this folder.
import { Module } from '@nestjs/common';
import { ConsoleSessions } from './console-sessions.js';
import { CredentialsService } from './credentials.service.js';
import { KeysService } from './keys.service.js';
import { SessionCookies } from './session-cookies.js';

const PROVIDERS = [CredentialsService, KeysService, SessionCookies, ConsoleSessions];

@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class KeysModule {}
