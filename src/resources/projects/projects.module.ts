// Projects: who sees what together, and the files that all tasks of a project read.
import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { ProjectFilesController } from './project-files.controller.js';
import { ProjectFilesService } from './project-files.service.js';
import { ProjectsController } from './projects.controller.js';
import { ProjectsService } from './projects.service.js';

@Module({
  imports: [FilesModule],
  controllers: [ProjectsController, ProjectFilesController],
  providers: [ProjectsService, ProjectFilesService],
  exports: [ProjectsService],
})
export class ProjectsModule {}
