// What lets automations fire: the clock, the deliveries of providers, the ends of tasks. Only in processes that work.
import { Module } from '@nestjs/common';
import { FiringModule } from '../../resources/automations/firing.module.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { StorageQuotaModule } from '../../resources/files/storage-quota.js';
import { HookThread } from '../../resources/integrations/hook-thread.js';
import { EventWork } from './event-work.js';
import { OccurrenceTicker } from './occurrence-ticker.js';
import { Occurrences } from './occurrences.js';
import { TaskEnds } from './task-ends.js';

@Module({
  imports: [FiringModule, FilesModule, StorageQuotaModule],
  providers: [Occurrences, OccurrenceTicker, EventWork, TaskEnds, HookThread],
})
export class OccurrencesModule {}
