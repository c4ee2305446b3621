// What tells people of their tasks outside of the page: who is told, and what sends it. Only in processes that work. What they want to be told stands in
// src/resources/personal-notices. The notices of src/platform/notices are something else: by them parts of the service wake each other.
import { Module } from '@nestjs/common';
import { PersonalNoticesModule } from '../../resources/personal-notices/personal-notices.module.js';
import { WebhookEgress } from '../deliveries/webhook-egress.js';
import { HookChannel } from './hook-channel.js';
import { MailChannel } from './mail-channel.js';
import { NoticeClaims } from './notice-claims.js';
import { NoticeSender } from './notice-sender.js';
import { NoticeWriter } from './notice-writer.js';
import { PushChannel } from './push-channel.js';

@Module({
  imports: [PersonalNoticesModule],
  providers: [NoticeClaims, NoticeSender, NoticeWriter, PushChannel, MailChannel, HookChannel, WebhookEgress],
})
export class NoticeSendingModule {}
