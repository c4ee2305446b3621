// The room where commands run apart from the host: the choice of a driver, the drivers, one launch, one workdir.
import { Module } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { BubblewrapSandbox } from './drivers/bubblewrap.sandbox.js';
import { Heartbeat } from './heartbeat.js';
import { NetworkProxy } from './network/network-proxy.js';
import { NamespacesSandbox } from './drivers/namespaces.sandbox.js';
import { NoSandbox } from './drivers/none.sandbox.js';
import { SandboxSelector } from './sandbox-selector.js';

/** Of runs, by which a session lives that names no other. */
const HEARTBEAT = {
  provide: Heartbeat,
  useFactory: (env: Env) => new Heartbeat(env.variables.LEASE_SECONDS),
  inject: [Env],
};

@Module({
  providers: [HEARTBEAT, NetworkProxy, BubblewrapSandbox, NamespacesSandbox, NoSandbox, SandboxSelector],
  // The first two for drivers of extensions that build on those here.
  exports: [Heartbeat, NetworkProxy, SandboxSelector],
})
export class SandboxModule {}
