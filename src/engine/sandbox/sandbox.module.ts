import { Module } from '@nestjs/common';
import { BubblewrapSandbox } from './bubblewrap.sandbox.js';
import { Heartbeat } from './heartbeat.js';
import { NamespacesSandbox } from './namespaces.sandbox.js';
import { NoSandbox } from './none.sandbox.js';
import { SandboxSelector } from './sandbox-selector.js';

@Module({
  providers: [Heartbeat, BubblewrapSandbox, NamespacesSandbox, NoSandbox, SandboxSelector],
  exports: [Heartbeat, SandboxSelector],
})
export class SandboxModule {}
