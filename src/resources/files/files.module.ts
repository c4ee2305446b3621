// Uploads, and the durable files of tasks and projects: their rows, their bytes, and the chores that remove them.
import { Module } from '@nestjs/common';
import { FileCleaner } from './file-cleaner.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { FileStorage } from './storage/file-storage.js';
import { LocalStorage } from './storage/local/local-storage.js';
import { S3Storage } from './storage/s3/s3-storage.js';
import { StorageQuota } from './storage-quota.js';
import { UploadsController } from './uploads.controller.js';
import { UploadsService } from './uploads.service.js';

@Module({
  controllers: [UploadsController, FilesController],
  providers: [FilesService, UploadsService, FileCleaner, FileStorage, LocalStorage, S3Storage, StorageQuota],
  exports: [FilesService, FileStorage, StorageQuota, UploadsService],
})
export class FilesModule {}
