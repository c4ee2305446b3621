// The room where commands run apart from the host: the choice of a driver, the drivers, one launch, one workdir.
import { Module } from '@nestjs/common';
import { BubblewrapSandbox } from './drivers/bubblewrap.sandbox.js';
import { Heartbeat } from './heartbeat.js';
import { NetworkProxy } from './network/network-proxy.js';
import { NamespacesSandbox } from './drivers/namespaces.sandbox.js';
import { NoSandbox } from './drivers/none.sandbox.js';
import { SandboxSelector } from './sandbox-selector.js';

@Module({
  providers: [Heartbeat, NetworkProxy, BubblewrapSandbox, NamespacesSandbox, NoSandbox, SandboxSelector],
  exports: [Heartbeat, SandboxSelector],
})
export class SandboxModule {}
