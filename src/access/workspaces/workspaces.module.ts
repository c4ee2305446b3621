// Workspaces, and who belongs to them: users, members and service accounts. Without HTTP: the operator command has them too.
import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MembershipsService } from './memberships.service.js';
import { ServiceAccountsService } from './service-accounts.service.js';
import { UsersService } from './users.service.js';
import { Workspace } from './workspace.entity.js';
import { WorkspaceRemover } from './workspace-remover.js';
import { WorkspacesService } from './workspaces.service.js';

const SERVICES = [WorkspacesService, WorkspaceRemover, UsersService, MembershipsService, ServiceAccountsService];

/**
 * Global, because features register with {@link MembershipsService} what ends with a membership, and with
 * {@link WorkspaceRemover} what ends with a workspace.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Workspace])],
  providers: SERVICES,
  exports: SERVICES,
})
export class WorkspacesModule {}
