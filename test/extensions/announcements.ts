import { Body, Controller, Module, Post } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';
import {
  configSection,
  defineExtension,
  Endpoint,
  type Job,
  JobHandler,
  JobQueue,
  JobWork,
  Tx,
  type UnitOfWork,
} from 'millwright';
import { z } from 'zod';

class AnnouncementsConfig extends configSection(z.strictObject({ url: z.url().default('http://127.0.0.1:9/') })) {}

class AnnouncementDto {
  @IsString()
  @MaxLength(500)
  text: string;
}

@JobHandler('announcements', { concurrency: 2, attempts: 6 })
export class AnnounceWork extends JobWork<{ text: string }> {
  constructor(private readonly config: AnnouncementsConfig) {
    super();
  }

  async handle({ id, data }: Job<{ text: string }>, signal: AbortSignal): Promise<void> {
    // The same at each attempt, so that the other side can tell a repetition.
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': id };
    const answer = await fetch(this.config.url, { method: 'POST', headers, body: JSON.stringify(data), signal });
    if (!answer.ok) throw new Error(`The announcement was answered with ${answer.status}.`);
  }
}

@Controller('v1/announcements')
class AnnouncementsController {
  constructor(private readonly jobs: JobQueue) {}

  @Post()
  @Endpoint({
    summary: 'Announce something',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: z.strictObject({ accepted: z.literal(true) }),
  })
  async announce(@Tx() tx: UnitOfWork, @Body() { text }: AnnouncementDto) {
    await this.jobs.add(tx, 'announcements', { text });
    return { accepted: true as const };
  }
}

@Module({ controllers: [AnnouncementsController], providers: [AnnounceWork] })
class AnnouncementsModule {}

export const ANNOUNCEMENTS = defineExtension({
  name: 'announcements',
  module: AnnouncementsModule,
  config: AnnouncementsConfig,
});
