// Workspaces, and who belongs to them: users, members and service accounts.
import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { MembershipsService } from './memberships.service.js';
import { ServiceAccountsController } from './service-accounts.controller.js';
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
  controllers: [MembersController, ServiceAccountsController],
  providers: [...SERVICES, MembersService],
  exports: SERVICES,
})
export class WorkspacesModule {}
