import { Module } from '@nestjs/common';
import { AuthController } from './auth.controller.js';
import { BearerStrategy } from './bearer.strategy.js';
import { KeysModule } from './keys.module.js';

@Module({
  imports: [KeysModule],
  controllers: [AuthController],
  providers: [BearerStrategy],
  exports: [BearerStrategy],
})
export class AuthModule {}
