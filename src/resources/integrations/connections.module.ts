// Connections without HTTP: how they are made, found and ended. The operator command needs no more of this folder.
import { Module } from '@nestjs/common';
import { RunRecords } from '../automations/run-records.js';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { ConnectionsService } from './connections.service.js';

@Module({
  imports: [CatalogueModule],
  providers: [ConnectionsService, RunRecords],
  exports: [ConnectionsService],
})
export class ConnectionsModule {}
