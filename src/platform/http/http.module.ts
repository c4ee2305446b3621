// What every route shares: its contract, its pages, its errors, and the document that is made of them.
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ConnectionCloser } from './connection-closer.js';
import { Connections } from './connections.js';
import { EndpointExplorer } from './endpoint-explorer.js';
import { OpenApi } from './openapi/openapi.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { Pages } from './pages.js';
import { RequestSlots } from './request-slots.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [OpenApiController],
  providers: [ConnectionCloser, Connections, EndpointExplorer, OpenApi, Pages, RequestSlots],
  exports: [EndpointExplorer, OpenApi, Pages, RequestSlots],
})
export class HttpModule {}
