// What the service counts about itself, for Prometheus.
import { Global, Module, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ExtensionSet } from '../plugins/extension-set.js';
import { Metrics } from './metrics.js';

@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule implements OnApplicationBootstrap {
  constructor(
    private readonly metrics: Metrics,
    private readonly extensions: ExtensionSet,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** The figures of extensions: their providers are made by now. */
  onApplicationBootstrap(): void {
    const services = { get: <T>(token: Type<T>) => this.moduleRef.get(token, { strict: false }) };
    for (const { metrics } of this.extensions.list) metrics?.(this.metrics, services);
  }
}
