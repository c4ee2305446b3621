// Uploads, and the durable files of tasks and projects: their rows, their bytes, and the chores that remove them.
import { Module } from '@nestjs/common';
import { FileCleaner } from './file-cleaner.js';
import { FileIntake } from './file-intake.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { StorageQuotaModule } from './storage-quota.js';
import { FileStorage } from './storage/file-storage.js';
import { LocalStorage } from './storage/local/local-storage.js';
import { UploadsController } from './uploads.controller.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [StorageQuotaModule],
  controllers: [UploadsController, FilesController],
  providers: [FileStorage, LocalStorage, FileIntake, FilesService, UploadsService, FileCleaner],
  exports: [FileIntake, FilesService, FileStorage, StorageQuotaModule],
})
export class FilesModule {}
