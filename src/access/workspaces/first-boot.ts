import { resolve } from 'node:path';
import { Injectable, Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { newId } from '../../platform/database/ids.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, type Sql, sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Membership } from './membership.entity.js';
import { User } from './user.entity.js';
import { Workspace } from './workspace.entity.js';

const OWNER = 'owner@localhost';
const COMMAND = `npm run --silent cli -- key create --workspace default --user ${OWNER}`;
const WAIT_FOR_LOCK = sql`SELECT pg_advisory_xact_lock(${raw(String(LOCKS.firstBoot))})`.rows();

const ANY = sql`SELECT 1 FROM workspaces UNION ALL SELECT 1 FROM users LIMIT 1`.rows();

/** On an empty database: a workspace, its owner, and how to make a key; never a key that nobody asked for. */
@Injectable()
export class FirstBoot implements OnApplicationBootstrap {
  private readonly logger = new Logger('Millwright');

  constructor(
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await isEmpty(this.transactions))) return;
    const made = await this.transactions.open(async (tx) => {
      await tx.run(WAIT_FOR_LOCK());
      if (!(await isEmpty(tx))) return false;
      await furnish(tx, this.env.variables.DEFAULT_PLAN);
      return true;
    });
    if (made) this.logger.log(`Made the workspace 'default' and its owner ${OWNER}. A key: ${this.command}`);
  }

  /** With the folder that the service was given: in another one lie another secret and another database. */
  private get command(): string {
    const { DATA_DIR } = this.env.variables;
    return DATA_DIR === undefined ? COMMAND : `DATA_DIR=${quoted(resolve(DATA_DIR))} ${COMMAND}`;
  }
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

async function isEmpty(database: Sql): Promise<boolean> {
  return (await database.run(ANY())).length === 0;
}

async function furnish({ manager }: UnitOfWork, plan: Plan): Promise<void> {
  const [workspaceId, userId] = [newId(), newId()];
  await manager.getRepository(Workspace).insert({ id: workspaceId, slug: 'default', name: 'Default', plan });
  await manager.getRepository(User).insert({ id: userId, email: OWNER, name: 'Owner' });
  await manager.getRepository(Membership).insert({ workspaceId, userId, role: 'owner' });
}

/** Of the service alone: an operator command that runs first fills the database as it is told. */
@Module({ providers: [FirstBoot] })
export class FirstBootModule {}
