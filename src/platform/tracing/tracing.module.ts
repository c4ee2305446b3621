// Traces for a collector, when OTEL_EXPORTER_OTLP_ENDPOINT names one; the packages are not loaded otherwise.
import { Global, Module } from '@nestjs/common';
import { Env } from '../config/env.js';
import { Tracing } from './tracing.js';

async function tracing({ variables }: Env): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME, ROLE } = variables;
  if (endpoint === undefined) return new Tracing(null);
  const { Collector } = await import('./collector.js');
  return new Tracing(new Collector(endpoint, OTEL_SERVICE_NAME, ROLE));
}

/** Global, so that its stop comes after the last request and the last run. */
@Global()
@Module({ providers: [{ provide: Tracing, useFactory: tracing, inject: [Env] }], exports: [Tracing] })
export class TracingModule {}
