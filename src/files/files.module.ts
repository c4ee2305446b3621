import { Module } from '@nestjs/common';
import { FileCleaner } from './file-cleaner.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { LocalStorage } from './storage/local-storage.js';
import { UploadsController } from './uploads.controller.js';
import { UploadsService } from './uploads.service.js';

@Module({
  controllers: [UploadsController, FilesController],
  providers: [LocalStorage, FilesService, UploadsService, FileCleaner],
  exports: [FilesService, LocalStorage],
})
export class FilesModule {}
