// Who asks: the credential of a request, the route that shows it, those by which people keep their own keys and those of service accounts, and the console's sessions.
import { Module } from '@nestjs/common';
import { AuthController } from './auth.controller.js';
import { BearerStrategy } from './bearer.strategy.js';
import { ConsoleSessions } from './console-sessions.js';
import { CredentialsService } from './credentials.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { KeyUses } from './key-uses.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { OwnKeysService } from './own-keys.service.js';
import { ServiceKeysController } from './service-keys.controller.js';
import { ServiceKeysService } from './service-keys.service.js';
import { SessionCookies } from './session-cookies.js';

const SHARED = [BearerStrategy, ConsoleSessions, CredentialsService, KeysService, SessionCookies];

@Module({
  controllers: [AuthController, InvitationsController, KeysController, ServiceKeysController],
  providers: [...SHARED, InvitationsService, KeyUses, OwnKeysService, ServiceKeysService],
  exports: SHARED,
})
export class AuthModule {}
