import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../http/endpoint.js';
import { ModelCatalog } from './model-catalog.js';
import { modelView } from './model.view.js';

@Controller('v1/models')
export class ModelsController {
  constructor(private readonly models: ModelCatalog) {}

  @Get()
  @Endpoint({ policy: 'metadata_read', scopes: 'any' })
  list() {
    return { models: this.models.list().map((model) => modelView(model, this.models.default().id)) };
  }
}
