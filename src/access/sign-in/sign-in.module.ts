// Sign-in by the company's own OpenID Connect provider (reference §31): accounts and memberships by what it says, and the command of clients that a person lets in.
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { SignInAccounts } from './accounts.service.js';
import { DeviceCodes } from './device-codes.js';
import { RuledMemberships } from './ruled-memberships.js';
import { SignInAttempts } from './sign-in-attempts.js';
import { SignInProviderModule } from './sign-in-provider.module.js';
import { SignInService } from './sign-in.service.js';

@Module({
  imports: [AuthModule, SignInProviderModule],
  providers: [DeviceCodes, RuledMemberships, SignInAccounts, SignInAttempts, SignInService],
  exports: [DeviceCodes, SignInProviderModule, SignInService],
})
export class SignInModule {}
