// Keys without HTTP: how they are made, checked and ended. The operator command needs no more of this folder.
import { Module } from '@nestjs/common';
import { CredentialsService } from './credentials.service.js';
import { KeysService } from './keys.service.js';

@Module({ providers: [CredentialsService, KeysService], exports: [CredentialsService, KeysService] })
export class KeysModule {}
