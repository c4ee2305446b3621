import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Endpoint } from '../http/endpoint.js';
import { Readiness } from './readiness.js';

@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Endpoint({ policy: null, scopes: 'public' })
  live() {
    return { status: 'ok' };
  }

  /** 503 while the process is stopping or cut off from its database. */
  @Get('ready')
  @Endpoint({ policy: null, scopes: 'public' })
  async ready(@Res({ passthrough: true }) res: Response) {
    const checks = await this.readiness.check();
    const ready = Object.values(checks).every((state) => state === 'ok');
    res.status(ready ? 200 : 503);
    return { status: ready ? 'ok' : 'unavailable', checks };
  }
}
