import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ConnectionCloser } from './connection-closer.js';
import { EndpointExplorer } from './endpoint-explorer.js';
import { Pages } from './pages.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [EndpointExplorer, Pages, ConnectionCloser],
  exports: [EndpointExplorer, Pages],
})
export class HttpModule {}
