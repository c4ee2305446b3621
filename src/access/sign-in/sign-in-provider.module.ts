// The provider of `signIn`, apart from what needs HTTP: readiness asks in every process.
import { Module } from '@nestjs/common';
import { SignInProvider } from './sign-in-provider.js';

@Module({ providers: [SignInProvider], exports: [SignInProvider] })
export class SignInProviderModule {}
