// The console (reference §20): the files of its page, and how people log in.
import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module.js';
import { SignInModule } from '../../access/sign-in/sign-in.module.js';
import { RateLimitModule } from '../../access/rate-limit/rate-limit.module.js';
import { Console } from './console.js';
import { ConsoleFiles, ConsoleFolder } from './console-files.js';
import { DeviceEndpoint } from './device-endpoint.js';
import { EndedSessions } from './ended-sessions.js';
import { SessionEndpoint } from './session-endpoint.js';
import { SignInEndpoint } from './sign-in-endpoint.js';

@Module({
  imports: [AuthModule, RateLimitModule, SignInModule],
  providers: [Console, ConsoleFiles, ConsoleFolder, DeviceEndpoint, EndedSessions, SessionEndpoint, SignInEndpoint],
})
export class ConsoleModule {}
