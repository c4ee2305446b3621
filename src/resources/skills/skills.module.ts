// Skills: know-how of a workspace that agents read when a task is of its kind. They are kept and changed here; the engine lays them in.
import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { SkillsController } from './skills.controller.js';
import { SkillsService } from './skills.service.js';

@Module({
  imports: [FilesModule],
  controllers: [SkillsController],
  providers: [SkillsService],
})
export class SkillsModule {}
