// Who asks: the credential of a request, and the route that shows it.
import { Module } from '@nestjs/common';
import { AuthController } from './auth.controller.js';
import { BearerStrategy } from './bearer.strategy.js';
import { KeyUses } from './key-uses.js';
import { KeysModule } from './keys.module.js';

@Module({
  imports: [KeysModule],
  controllers: [AuthController],
  providers: [BearerStrategy, KeyUses],
  exports: [BearerStrategy],
})
export class AuthModule {}
