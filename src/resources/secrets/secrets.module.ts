// Secrets: values that tasks use and never see. They are kept and changed here; what puts them into requests asks `SecretsOf`.
import { Module, type OnModuleInit } from '@nestjs/common';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { BindingRules } from './binding-rules.js';
import { SecretsController } from './secrets.controller.js';
import { SecretsOf } from './secrets-of.js';
import { SecretsService } from './secrets.service.js';
import { TaskSecretsController } from './task-secrets.controller.js';

@Module({
  imports: [ProjectsModule, RepositoriesModule],
  controllers: [SecretsController, TaskSecretsController],
  providers: [SecretsService, SecretsOf, BindingRules],
  exports: [SecretsOf],
})
export class SecretsModule implements OnModuleInit {
  constructor(
    private readonly rules: RepositoryRules,
    private readonly secrets: SecretsOf,
  ) {}

  onModuleInit(): void {
    this.rules.useSecrets((sql, slug, name, url) => this.secrets.token(sql, slug, name, url));
  }
}
