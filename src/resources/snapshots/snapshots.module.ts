// Snapshots of the folders of tasks: their rows, their objects, and what clients see of them. Runs take them (src/work/runs/run-snapshots.ts).
import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { SnapshotsController } from './snapshots.controller.js';
import { SnapshotsService } from './snapshots.service.js';
import { SnapshotStore } from './snapshot-store.js';

@Module({
  imports: [FilesModule],
  controllers: [SnapshotsController],
  providers: [SnapshotsService, SnapshotStore],
  exports: [SnapshotStore],
})
export class SnapshotsModule {}
