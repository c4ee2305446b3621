// What workspaces reach hosts of repositories with, and what tasks are given of it.
import { Module, type OnModuleInit } from '@nestjs/common';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { AppTokens } from './app-tokens.js';
import { ConnectionAccess } from './connection-access.js';
import { RepositoryConnectionsController } from './repository-connections.controller.js';
import { RepositoryConnectionsService } from './repository-connections.service.js';

@Module({
  imports: [RepositoriesModule],
  controllers: [RepositoryConnectionsController],
  providers: [RepositoryConnectionsService, ConnectionAccess, AppTokens],
})
export class RepositoryConnectionsModule implements OnModuleInit {
  constructor(
    private readonly rules: RepositoryRules,
    private readonly connections: RepositoryConnectionsService,
  ) {}

  onModuleInit(): void {
    this.rules.useConnections((sql, slug) => this.connections.accesses(sql, slug));
  }
}
