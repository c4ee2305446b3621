import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import type { McpOffer } from '../../engine/agent/mcp/input-mcp.js';
import { Id, Timestamp } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';

/** A server as a worker last saw it (reference §28). One that nobody has asked yet has no row. */
@Entity('mcp_servers')
@Check('mcp_servers_status_check', `status IN ('ready', 'unavailable')`)
// (workspace_id, name) NULLS NOT DISTINCT: TypeORM describes no such index.
@Index('mcp_servers_one', { synchronize: false })
export class SeenMcpServer {
  @Id() id: string;
  /** Where a program was seen: what it finds in the workdir of a task is for nobody else. Null for a `url`, which is the same for all. */
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  workspaceId: string | null;
  @Column('text') name: string;
  /** Of its configuration then: with another one it is another server. */
  @Column('text') fingerprint: string;
  /** Of the protocol; null before it was reached once. */
  @Column('text', { nullable: true }) revision: string | null;
  /** Those that are taken; null before it was reached once. */
  @Column('jsonb', { nullable: true }) tools: { name: string; description: string }[] | null;
  @Column('text') status: 'ready' | 'unavailable';
  @Timestamp() checkedAt: Date;
}

/** What the model of a task is offered of its servers. It stays, so that what is sent to a model only grows. */
@Entity('mcp_offers')
export class StoredMcpOffer {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  /** With the keys of schemas in the order of the server. */
  @Column('json') offer: McpOffer;
}
