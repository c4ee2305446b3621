// The automations of tenant A, and what its providers deliver.
import { createHmac, randomUUID } from 'node:crypto';
import { checkFilter } from '../../src/resources/integrations/filter.js';
import type { Connected } from '../../src/resources/integrations/connections.service.js';
import { plan } from '../harness/automations.js';
import type { Member } from '../harness/client.js';
import type { TestDatabase } from '../harness/database.js';
import { github } from '../harness/hooks.js';

export interface Delivery {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Active at once: those of {@link Planned.make}. */
export const AUTOMATIONS = 120;
const SCHEDULES = 100;
const ON_EVENTS = (AUTOMATIONS - SCHEDULES) / 2;
const IDLE = 'Nothing to do.';

/** Takes the list `n` once for each of its elements, six levels deep: a filter that uses up its 100 ms. */
const ENDLESS = Array(6).fill(0).reduce<string>((inner) => `map(&(${inner}), $.n)`, '@'); // prettier-ignore

export class Planned {
  constructor(
    private readonly db: TestDatabase,
    private readonly member: Member,
    private readonly connections: { github: Connected; webhook: Connected },
  ) {}

  /** Where deliveries of GitHub arrive. */
  get hookPath(): string {
    return this.connections.github.path;
  }

  /** A hundred that are due each minute, and ten for each connection: one makes a task of every event, most only ask. */
  async make(): Promise<void> {
    checkFilter(ENDLESS);
    const schedule = (n: number) =>
      ({ cron: '* * * * *', dueIn: null, overlap: n % 2 === 0 ? 'skip' : 'allow' }) as const;
    const ofEvent = (n: number) => ({ filter: [null, 'wanted', ENDLESS][Math.min(n, 2)] ?? null, overlap: n === 0 ? 'queue' : 'allow' }) as const; // prettier-ignore
    const { github, webhook } = this.connections;
    for (let n = 0; n < SCHEDULES; n++) await plan(this.db, this.member, { ...schedule(n), content: IDLE });
    for (let n = 0; n < ON_EVENTS; n++) {
      const content = n === 0 ? '```bash\nwc -c event.json\n```' : IDLE;
      const one = { ...ofEvent(n), content };
      await plan(this.db, this.member, { ...one, connectionId: github.id, triggerEvent: 'github.push' });
      await plan(this.db, this.member, { ...one, connectionId: webhook.id, triggerEvent: 'webhook.received' });
    }
  }

  /** Lets the last hour be missed, as after a time without a worker: each of the hundred is due, sixty times. */
  async overdue(): Promise<void> {
    const mine = 'automation_id IN (SELECT id FROM automations WHERE workspace_id = $1 AND cron IS NOT NULL)';
    await this.db.query(`DELETE FROM automation_runs WHERE ${mine}`, [this.member.workspace.id]);
    await this.db.query(
      `UPDATE automations SET next_run_at = date_trunc('minute', now()) - interval '59 minutes'
       WHERE workspace_id = $1 AND cron IS NOT NULL AND status = 'active'`,
      [this.member.workspace.id],
    );
  }

  /** Resolves with the tasks that they have made. */
  async remove(): Promise<string[]> {
    const { id } = this.member.workspace;
    await this.db.query('DELETE FROM automations WHERE workspace_id = $1', [id]);
    const made = await this.db.query<{ id: string }>(
      'SELECT id FROM tasks WHERE workspace_id = $1 AND automation_id IS NOT NULL',
      [id],
    );
    return made.map((task) => task.id);
  }

  /** A delivery of about so many bytes, of one of the two by turns. Each tenth is wanted by the automations that ask for it. */
  delivery(n: number, bytes: number, signed = true): Delivery {
    const known = { n: Array.from({ length: 300 }, (_, at) => at), id: randomUUID(), wanted: n % 10 === 0 };
    const body = Buffer.from(JSON.stringify({ ...known, filling: 'x'.repeat(Math.max(0, bytes - 1500)) }));
    const connection = n % 2 === 0 ? this.connections.github : this.connections.webhook;
    const secret = signed ? connection.secret : 'whsec_bm90IHRoZSBzZWNyZXQ=';
    return {
      path: connection.path,
      body,
      headers: n % 2 === 0 ? githubHeaders(secret, body) : webhookHeaders(secret, body),
    };
  }
}

function githubHeaders(secret: string, body: Buffer): Record<string, string> {
  return github(secret, { body }).headers;
}

/** By the specification of Standard Webhooks. Its own library takes a second for 25 MiB. */
function webhookHeaders(secret: string, body: Buffer): Record<string, string> {
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${digest}` };
  return { 'Content-Type': 'application/json', ...headers };
}
