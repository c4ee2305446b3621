import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { ModelCatalog } from './model-catalog.js';
import { modelSchema, modelView } from './model.view.js';

@Controller('v1/models')
export class ModelsController {
  constructor(private readonly models: ModelCatalog) {}

  @Get()
  @Endpoint({
    summary: 'List the models',
    policy: 'metadata_read',
    scopes: 'any',
    answer: z.strictObject({ models: z.array(modelSchema) }),
  })
  list() {
    const { id: defaultId } = this.models.default();
    const engineOf = (id: string) => this.models.engineOf(id)?.name ?? null;
    return { models: this.models.list().map((model) => modelView(model, defaultId, engineOf(model.id))) };
  }
}
