// The models that the operator offers: the catalogue, its providers, and the list for clients.
import { Module, type OnModuleInit } from '@nestjs/common';
import { Notices } from '../../platform/notices/notices.js';
import { AiSdkProvider } from './ai-sdk/ai-sdk-provider.js';
import { ModelCatalog } from './model-catalog.js';
import type { ModelFailureCode } from './model-provider.js';
import { ModelsController } from './models.controller.js';
import { RunbookProvider } from './runbook/runbook-provider.js';

@Module({
  controllers: [ModelsController],
  providers: [ModelCatalog, AiSdkProvider, RunbookProvider],
  exports: [ModelCatalog],
})
export class ModelsModule implements OnModuleInit {
  constructor(
    private readonly models: ModelCatalog,
    private readonly notices: Notices,
  ) {}

  /**
   * What one process finds out about a model, the others know too: a worker calls it, `GET /v1/models` may be answered elsewhere.
   * Where notices may have been missed, what was heard is forgotten.
   */
  onModuleInit(): void {
    const { health } = this.models;
    health.onChange = (id, refusal) => this.notices.passOn({ model: { id, refusal } });
    this.notices.on(
      'model',
      ({ id, refusal }) =>
        health.hear(id, refusal === null ? null : { ...refusal, code: refusal.code as ModelFailureCode }),
      () => health.forget(),
    );
  }
}
