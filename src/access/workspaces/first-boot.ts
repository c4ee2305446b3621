import { Injectable, Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { newId } from '../../platform/database/ids.js';
import { LOCKS } from '../../platform/database/locks.js';

const OWNER = 'owner@localhost';
const COMMAND = `npm run --silent cli -- key create --workspace default --user ${OWNER}`;

/** On an empty database: a workspace, its owner, and how to make a key; never a key that nobody asked for. */
@Injectable()
export class FirstBoot implements OnApplicationBootstrap {
  private readonly logger = new Logger('Millwright');

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await isEmpty(this.dataSource.manager))) return;
    const made = await this.dataSource.transaction(async (manager) => {
      await manager.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.firstBoot]);
      if (!(await isEmpty(manager))) return false;
      await furnish(manager, this.env.variables.DEFAULT_PLAN);
      return true;
    });
    if (made) this.logger.log(`Made the workspace 'default' and its owner ${OWNER}. A key: ${COMMAND}`);
  }
}

async function isEmpty(manager: EntityManager): Promise<boolean> {
  const rows = await manager.query<unknown[]>('SELECT 1 FROM workspaces UNION ALL SELECT 1 FROM users LIMIT 1');
  return rows.length === 0;
}

async function furnish(manager: EntityManager, plan: Plan): Promise<void> {
  const [workspace, user] = [newId(), newId()];
  await manager.query(`INSERT INTO workspaces (id, slug, name, plan) VALUES ($1, 'default', 'Default', $2)`, [
    workspace,
    plan,
  ]);
  await manager.query(`INSERT INTO users (id, email, name) VALUES ($1, $2, 'Owner')`, [user, OWNER]);
  await manager.query(`INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner')`, [
    workspace,
    user,
  ]);
}

/** Of the service alone: an operator command that runs first fills the database as it is told. */
@Module({ providers: [FirstBoot] })
export class FirstBootModule {}
