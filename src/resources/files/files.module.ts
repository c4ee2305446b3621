// Uploads, and the durable files of tasks and projects: their rows, their bytes, and the chores that remove them.
import { Module } from '@nestjs/common';
import { FileCleaner } from './file-cleaner.js';
import { FileIntake } from './file-intake.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { StorageQuotaModule } from './storage-quota.js';
import { StorageModule } from './storage/storage.module.js';
import { UploadsController } from './uploads.controller.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [StorageQuotaModule, StorageModule],
  controllers: [UploadsController, FilesController],
  providers: [FileIntake, FilesService, UploadsService, FileCleaner],
  exports: [FileIntake, FilesService, StorageModule, StorageQuotaModule],
})
export class FilesModule {}
