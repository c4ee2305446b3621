// Chores: what the service does by itself every so often (`@Chore`), ours and those of extensions.
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ChoreLocks } from './chore-locks.js';
import { ChoreRunner } from './chore-runner.js';

/** Global, so that Nest stops it last: nothing that stops within seconds waits for a long chore. */
@Global()
@Module({ imports: [DiscoveryModule], providers: [ChoreRunner, ChoreLocks], exports: [ChoreRunner] })
export class ChoresModule {}
