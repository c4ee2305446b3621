import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import { ModelCatalog } from './model-catalog.js';
import type { ModelFailureCode } from './model-provider.js';

/**
 * What one process finds out about a model, the others know too: a worker calls it, `GET /v1/models` may be answered elsewhere.
 * Where notices may have been missed, what was heard is forgotten.
 */
@Injectable()
export class ModelNews implements OnModuleInit {
  constructor(
    private readonly models: ModelCatalog,
    private readonly channel: PgChannel,
  ) {}

  onModuleInit(): void {
    const { health } = this.models;
    health.onChange = (id, refusal) => this.channel.send({ model: { id, refusal } });
    this.channel.onReconnect(() => health.forget());
    this.channel.listen((notice) => {
      if (!('model' in notice)) return;
      const { id, refusal } = notice.model;
      health.hear(id, refusal === null ? null : { ...refusal, code: refusal.code as ModelFailureCode });
    });
  }
}
