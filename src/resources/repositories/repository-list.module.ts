// What a workspace may work on: repositories and their branches, as their hosts tell.
import { Module } from '@nestjs/common';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { BranchListService } from './branch-list.service.js';
import { HostLists } from './host-lists.js';
import { RepositoryListController } from './repository-list.controller.js';
import { RepositoryListService } from './repository-list.service.js';

@Module({
  imports: [RepositoriesModule],
  controllers: [RepositoryListController],
  providers: [BranchListService, HostLists, RepositoryListService],
})
export class RepositoryListModule {}
