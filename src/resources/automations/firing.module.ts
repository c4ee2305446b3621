// How automations fire: for the worker that looks what is due, and for the route that runs one at once.
import { Module } from '@nestjs/common';
import { StorageQuotaModule } from '../files/storage-quota.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AutomationFirer } from './automation-firer.js';
import { RunRecords } from './run-records.js';

@Module({
  imports: [StorageQuotaModule, TasksModule],
  providers: [AutomationFirer, RunRecords],
  exports: [AutomationFirer, RunRecords],
})
export class FiringModule {}
