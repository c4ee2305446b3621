import { Module } from '@nestjs/common';
import { composeApp } from './compose.js';
import { readEnv } from './platform/config/env.js';

/** The service, composed for the environment of this process. Boots as it is in the Nest testing module. */
@Module(composeApp(readEnv()))
export class AppModule {}
