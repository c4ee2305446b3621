import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Env } from '../../platform/config/env.js';
import { notFound } from '../../platform/http/api-error.js';
import { isLoopback } from '../../platform/http/network.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Metrics } from '../../platform/metrics/metrics.js';

@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  /** On this port only while nobody from outside can reach it: see `METRICS_PORT`. */
  @Get()
  @Endpoint({
    summary: 'Read figures for Prometheus',
    description: '404 unless `HOST` is a loopback address; then they are on `METRICS_PORT` alone.',
    policy: null,
    scopes: 'public',
    query: 'ignored',
    answer: { 200: { description: 'The text format of Prometheus.', content: { 'text/plain': null } } },
  })
  async read(@Res() res: Response): Promise<void> {
    if (!isLoopback(this.env.variables.HOST)) throw notFound('path');
    const text = await this.metrics.registry.metrics();
    res.setHeader('Content-Type', this.metrics.registry.contentType);
    res.send(text);
  }
}
