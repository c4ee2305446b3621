import { Module } from '@nestjs/common';
import { CredentialsService } from './credentials.service.js';
import { KeysService } from './keys.service.js';

/** Keys without HTTP: what the operator command needs of this folder. */
@Module({ providers: [CredentialsService, KeysService], exports: [CredentialsService, KeysService] })
export class KeysModule {}
