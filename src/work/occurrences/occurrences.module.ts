// What lets automations fire: the clock, the deliveries of providers, the ends of tasks. Only in processes that work.
import { Module } from '@nestjs/common';
import { AutomationsModule } from '../../resources/automations/automations.module.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { IntegrationsModule } from '../../resources/integrations/integrations.module.js';
import { AskedRuns } from './asked-runs.js';
import { EventWork } from './event-work.js';
import { OccurrenceTicker } from './occurrence-ticker.js';
import { Occurrences } from './occurrences.js';
import { TaskEnds } from './task-ends.js';

@Module({
  imports: [AutomationsModule, FilesModule, IntegrationsModule],
  providers: [AskedRuns, Occurrences, OccurrenceTicker, EventWork, TaskEnds],
})
export class OccurrencesModule {}
