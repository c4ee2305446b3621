// Connections without HTTP: how they are made, found and ended, also with a member or a workspace. The operator command needs no more
// of this folder.
import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import { RunRecords } from '../automations/run-records.js';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { ConnectionsService } from './connections.service.js';
import { DELETE_SOME_DELIVERIES } from './connections.sql.js';

@Module({
  imports: [CatalogueModule],
  providers: [ConnectionsService, RunRecords],
  exports: [ConnectionsService],
})
export class ConnectionsModule implements OnModuleInit {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly workspaces: WorkspaceRemover,
    private readonly connections: ConnectionsService,
  ) {}

  onModuleInit(): void {
    // Before the automations of the member: in this order both are locked.
    this.memberships.onRemoved(
      (tx, workspaceId, userId) => this.connections.endOfUser(tx, workspaceId, userId),
      'first',
    );
    this.workspaces.onRemoving(
      async (tx, workspaceId) => (await tx.run(DELETE_SOME_DELIVERIES({ workspaceId }))).length,
    );
  }
}
