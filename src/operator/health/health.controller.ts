import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { READINESS, Readiness } from './readiness.js';

@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Endpoint({
    summary: 'Ask whether the process answers',
    policy: null,
    scopes: 'public',
    query: 'ignored',
    answer: z.strictObject({ status: z.literal('ok') }),
  })
  live() {
    return { status: 'ok' };
  }

  /** 503 while the process is stopping or cannot reach its database. */
  @Get('ready')
  @Endpoint({
    summary: 'Ask whether the process can serve',
    policy: null,
    scopes: 'public',
    query: 'ignored',
    answer: READINESS,
  })
  async ready(@Res({ passthrough: true }) res: Response) {
    const answer = await this.readiness.check();
    res.status(answer.status === 'ok' ? 200 : 503);
    return answer;
  }
}
