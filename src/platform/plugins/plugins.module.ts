// How a class, ours or of an extension, becomes the implementation of a seam.
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { PluginRegistry } from './plugin.js';

@Global()
@Module({ imports: [DiscoveryModule], providers: [PluginRegistry], exports: [PluginRegistry, DiscoveryModule] })
export class PluginsModule {}
