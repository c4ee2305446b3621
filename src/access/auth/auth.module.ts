// Who asks: the credential of a request, the route that shows it, and those by which people keep their own keys.
import { Module } from '@nestjs/common';
import { AuthController } from './auth.controller.js';
import { BearerStrategy } from './bearer.strategy.js';
import { KeyUses } from './key-uses.js';
import { KeysController } from './keys.controller.js';
import { KeysModule } from './keys.module.js';
import { OwnKeysService } from './own-keys.service.js';

@Module({
  imports: [KeysModule],
  controllers: [AuthController, KeysController],
  providers: [BearerStrategy, KeyUses, OwnKeysService],
  exports: [BearerStrategy],
})
export class AuthModule {}
