// Free space of the disks that the service writes to.
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { Safeguards } from '../config/safeguards.js';
import { DiskSpace } from './disk-space.js';

@Global()
@Module({ providers: [DiskSpace], exports: [DiskSpace] })
export class DiskModule implements OnModuleInit {
  constructor(
    private readonly space: DiskSpace,
    private readonly safeguards: Safeguards,
  ) {}

  onModuleInit(): void {
    this.safeguards.report(this.space.report);
  }
}
