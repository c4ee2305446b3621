// Notices to people: what a member wants to be told outside of the page, and where. What tells it stands in src/work/personal-notices.
// The notices of src/platform/notices are something else: by them parts of the service wake each other.
import { Module } from '@nestjs/common';
import { PersonalNoticesController } from './personal-notices.controller.js';
import { PersonalNoticesPurge } from './personal-notices-purge.js';
import { PersonalNoticesService } from './personal-notices.service.js';
import { VapidKeys } from './vapid-keys.js';

@Module({
  controllers: [PersonalNoticesController],
  providers: [PersonalNoticesService, PersonalNoticesPurge, VapidKeys],
  exports: [VapidKeys],
})
export class PersonalNoticesModule {}
