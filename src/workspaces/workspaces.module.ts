import { Global, Module } from '@nestjs/common';
import { MembershipsService } from './memberships.service.js';
import { ServiceAccountsService } from './service-accounts.service.js';
import { UsersService } from './users.service.js';
import { WorkspacesService } from './workspaces.service.js';

/** Global, because features register with {@link MembershipsService} what ends with a membership. */
@Global()
@Module({
  providers: [WorkspacesService, UsersService, MembershipsService, ServiceAccountsService],
  exports: [WorkspacesService, UsersService, MembershipsService, ServiceAccountsService],
})
export class WorkspacesModule {}
