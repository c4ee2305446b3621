import { Module } from '@nestjs/common';
import { BubblewrapSandbox } from './bubblewrap.sandbox.js';
import { NamespacesSandbox } from './namespaces.sandbox.js';
import { NoSandbox } from './none.sandbox.js';
import { SandboxSelector } from './sandbox-selector.js';

@Module({
  providers: [BubblewrapSandbox, NamespacesSandbox, NoSandbox, SandboxSelector],
  exports: [SandboxSelector],
})
export class SandboxModule {}
