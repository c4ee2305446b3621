// Pausing and resuming without the rest of automations: the operator command needs no more.
import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../integrations/connections.module.js';
import { AutomationStates } from './automation-states.js';
import { RunRecords } from './run-records.js';

@Module({ imports: [ConnectionsModule], providers: [AutomationStates, RunRecords], exports: [AutomationStates] })
export class AutomationStatesModule {}
