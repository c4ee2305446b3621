import { access, constants } from 'node:fs/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { z } from 'zod';
import { SignInProvider } from '../../access/sign-in/sign-in-provider.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { Installation } from '../../platform/installation/installation.js';
import { Safeguards } from '../../platform/config/safeguards.js';
import { Database } from '../../platform/database/database.js';
import type { DocumentedAnswer } from '../../platform/http/endpoint.js';
import { named } from '../../platform/http/schema.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import { LIST, type MachineRow } from '../../work/machines/machines.sql.js';
import { machineView } from '../../work/machines/machine.view.js';
import { Notices } from '../../platform/notices/notices.js';

export const readinessSchema = named(
  'Readiness',
  z.strictObject({
    status: z.enum(['ok', 'unavailable']),
    checks: z.strictObject({
      process: z.enum(['ok', 'draining']).describe('`draining` from the moment at which it was told to stop.'),
      database: z.enum(['ok', 'unavailable']),
      signals: z
        .enum(['ok', 'degraded'])
        .describe('`degraded`: work is found by looking each second. No reason for a 503.'),
      storage: z
        .enum(['ok', 'full', 'degraded', 'unavailable'])
        .describe(
          '`full`: below `DISK_RESERVE_BYTES`, new data is refused; `degraded`: the storage of files does not answer (`STORAGE`). Both are no reason for a 503: all else goes on.',
        ),
      signIn: z
        .enum(['ok', 'unavailable'])
        .optional()
        .describe('Whether the provider of `signIn` answers; absent without one. No reason for a 503: keys work.'),
    }),
    installation: z
      .string()
      .describe('Of which installation the process is: the same for all that share its database. No secret.'),
    inForce: z
      .array(z.string())
      .describe('What guards this process and keeps tenants apart, one sentence each, as the boot said it.'),
    missing: z.array(z.string()).describe('What this machine does not offer for it. No reason for a 503.'),
    machines: z
      .array(
        z.strictObject({
          id: z.uuid(),
          status: z.enum(['working', 'draining']),
          running: z.int().describe('Tasks at work whose folder it has.'),
          places: z.int().describe('How many it works on at once.'),
        }),
      )
      .describe('All that work on tasks now; empty while the database is unavailable. No reason for a 503.'),
  }),
);

export const READINESS: Record<number, DocumentedAnswer> = {
  200: { description: 'It can.', content: { 'application/json': readinessSchema } },
  503: { description: 'It stops, or is cut off.', content: { 'application/json': readinessSchema } },
};

/** A check that has no answer by then counts as failed: a balancer waits no longer either. Milliseconds. */
const PATIENCE = 2_000;

/** Whether this process can serve. */
@Injectable()
export class Readiness implements OnModuleDestroy {
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly dataDir: DataDir,
    private readonly notices: Notices,
    private readonly space: DiskSpace,
    private readonly safeguards: Safeguards,
    private readonly installation: Installation,
    private readonly files: FileStorage,
    private readonly provider: SignInProvider,
  ) {}

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async check(): Promise<z.output<typeof readinessSchema>> {
    let machines: MachineRow[] = [];
    const asked = this.database.read.run(LIST({ all: false })).then((rows) => (machines = rows));
    const [database, files, storage, signIn] = await Promise.all([
      stateOf(asked),
      stateOf(this.files.driver.answers().then((yes) => (yes ? undefined : Promise.reject(new Error('no answer'))))),
      stateOf(access(this.dataDir.path, constants.W_OK)),
      this.stateOfProvider(),
    ]);
    const ready = !this.stopping && database === 'ok' && storage === 'ok';
    return {
      status: ready ? 'ok' : 'unavailable',
      checks: {
        process: this.stopping ? 'draining' : 'ok',
        database,
        signals: this.notices.connected ? 'ok' : 'degraded',
        storage:
          storage !== 'ok' ? storage : files !== 'ok' ? 'degraded' : this.space.state === 'enough' ? 'ok' : 'full',
        ...(signIn === null ? {} : { signIn }),
      },
      installation: this.installation.sign,
      inForce: [...this.safeguards.inForce],
      missing: [...this.safeguards.missing],
      machines: machines.map(ofMachine),
    };
  }

  private async stateOfProvider(): Promise<'ok' | 'unavailable' | null> {
    if (this.provider.config === null) return null;
    return stateOf(
      this.provider.answers().then((yes) => (yes === true ? undefined : Promise.reject(new Error('no answer')))),
    );
  }
}

/** To everybody: not what its system is called. */
function ofMachine(row: MachineRow) {
  const { id, status, running, places } = machineView(row);
  return { id, status: status === 'draining' ? status : ('working' as const), running, places };
}

async function stateOf(check: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'unavailable'>((resolve) => (timer = setTimeout(() => resolve('unavailable'), PATIENCE)));
  const answer = check.then(
    () => 'ok' as const,
    () => 'unavailable' as const,
  );
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
