import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EndpointExplorer } from './endpoint-explorer.js';
import { Pages } from './pages.js';

@Global()
@Module({ imports: [DiscoveryModule], providers: [EndpointExplorer, Pages], exports: [EndpointExplorer, Pages] })
export class HttpModule {}
