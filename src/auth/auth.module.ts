import { Module } from '@nestjs/common';
import { AuthModuleOptions } from '@nestjs/passport';
import { AuthController } from './auth.controller.js';
import { AUTH_PROPERTY } from './auth.decorator.js';
import { BearerStrategy } from './bearer.strategy.js';
import { KeysModule } from './keys.module.js';

@Module({
  imports: [KeysModule],
  controllers: [AuthController],
  providers: [
    BearerStrategy,
    {
      provide: AuthModuleOptions,
      inject: [BearerStrategy],
      useFactory: (strategy: BearerStrategy): AuthModuleOptions => ({
        defaultStrategy: strategy.name,
        property: AUTH_PROPERTY,
        session: false,
      }),
    },
  ],
  exports: [AuthModuleOptions],
})
export class AuthModule {}
