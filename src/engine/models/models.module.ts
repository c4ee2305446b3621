// The models that the operator offers: the catalogue, its providers, and the list for clients.
import { Module } from '@nestjs/common';
import { AiSdkProvider } from './ai-sdk/ai-sdk-provider.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelNews } from './model-news.js';
import { ModelsController } from './models.controller.js';
import { RunbookProvider } from './runbook/runbook-provider.js';

@Module({
  controllers: [ModelsController],
  providers: [ModelCatalog, ModelNews, AiSdkProvider, RunbookProvider],
  exports: [ModelCatalog],
})
export class ModelsModule {}
