import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../http/endpoint.js';
import { ModelCatalog } from './model-catalog.js';
import { modelView } from './models.view.js';

@Controller('v1/models')
export class ModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Get()
  @Endpoint({ policy: 'metadata_read', scopes: 'any' })
  list() {
    return { models: this.catalog.list().map((model) => modelView(model, this.catalog.default().id)) };
  }
}
