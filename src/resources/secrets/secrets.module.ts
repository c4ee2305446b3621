// Secrets: values that tasks use and never see. They are kept and changed here; what puts them into requests asks `SecretsOf`.
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module.js';
import { BindingRules } from './binding-rules.js';
import { SecretsController } from './secrets.controller.js';
import { SecretsOf } from './secrets-of.js';
import { SecretsService } from './secrets.service.js';
import { TaskSecretsController } from './task-secrets.controller.js';

@Module({
  imports: [ProjectsModule],
  controllers: [SecretsController, TaskSecretsController],
  providers: [SecretsService, SecretsOf, BindingRules],
  exports: [SecretsOf],
})
export class SecretsModule {}
