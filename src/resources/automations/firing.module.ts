// How automations fire: for the worker that looks what is due, and for the route that runs one at once.
import { Module } from '@nestjs/common';
import { StorageQuotaModule } from '../files/storage-quota.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AutomationFirer } from './automation-firer.js';

@Module({ imports: [StorageQuotaModule, TasksModule], providers: [AutomationFirer], exports: [AutomationFirer] })
export class FiringModule {}
