import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeNoticesDto, EndpointQuery, PushSubscriptionDto, TestNoticeDto } from './personal-notices.dto.js';
import { PersonalNoticesService } from './personal-notices.service.js';
import { noticesSchema, pushAnswer, testAnswer } from './personal-notices.view.js';

// A viewer may change all of it: it changes nothing but what the viewer is sent.
const READS = { policy: 'resource_read', scopes: 'personal' } as const;
const WRITES = { policy: 'resource_write', scopes: 'personal', transaction: true } as const;

@Controller('v1/notices')
export class PersonalNoticesController {
  constructor(private readonly notices: PersonalNoticesService) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'Read what you are told',
    description: 'Your own notices outside of the page, of this workspace. By default all are off.',
    action: 'notices.read',
    answer: noticesSchema,
  })
  async read(@Auth() auth: AuthContext) {
    return this.notices.read(auth);
  }

  // No Idempotency-Key: a stored answer would hold the address of the hook. To repeat it changes nothing.
  @Put()
  @Endpoint({
    ...WRITES,
    summary: 'Change what you are told',
    description:
      'Replaces all of it; what is not given is off. You are told of tasks that you have made and still see, once for each end of a turn and each question.',
    action: 'notices.update',
    answer: noticesSchema,
  })
  async replace(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: ChangeNoticesDto) {
    return this.notices.replace(auth, tx, body);
  }

  @Post('push')
  @HttpCode(200)
  @Endpoint({
    ...WRITES,
    summary: 'Add a browser',
    description:
      'The body is what `PushSubscription.toJSON()` of a browser gives. A browser that is there already stays one. At most 10: the one that was added longest ago goes. Others who have logged in at the same browser get nothing there any more.',
    action: 'notices.subscribe',
    answer: pushAnswer,
  })
  async subscribe(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: PushSubscriptionDto) {
    return { push: await this.notices.subscribe(auth, tx, body) };
  }

  @Delete('push')
  @Endpoint({
    ...WRITES,
    summary: 'Remove a browser',
    action: 'notices.unsubscribe',
    answer: pushAnswer,
  })
  async unsubscribe(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Query() { endpoint }: EndpointQuery) {
    return { push: await this.notices.unsubscribe(auth, tx, endpoint) };
  }

  @Post('test')
  @HttpCode(202)
  @Endpoint({
    ...WRITES,
    summary: 'Send a test',
    description: 'At once, also in quiet hours: to all browsers of yours, to your hook, or to your address.',
    action: 'notices.test',
    answer: testAnswer,
  })
  async test(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() { channel }: TestNoticeDto) {
    return { queued: await this.notices.test(auth, tx, channel) };
  }
}
