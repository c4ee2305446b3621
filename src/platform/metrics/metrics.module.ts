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
    for (const { name, metrics } of this.extensions.list) {
      try {
        metrics?.(this.metrics, services);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`The extension '${name}' cannot register its figures: ${reason}`, { cause: error });
      }
    }
  }
}
