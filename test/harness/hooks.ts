// Connections to providers, and deliveries as GitHub signs them.
import { createHmac, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Connected, ConnectionsService } from '../../src/resources/integrations/connections.service.js';
import type { TestApp } from './app.js';
import { Client, type Member } from './client.js';
import { until } from './until.js';

/** A new connection of a member's workspace, or the member's own. */
export function connect(
  { app }: TestApp,
  { workspace, user }: Member,
  { own = false, slug = 'github', secret }: { own?: boolean; slug?: string; secret?: string } = {},
): Promise<Connected> {
  const userId = own ? user.id : null;
  return app.get(ConnectionsService, { strict: false }).connect({ workspaceId: workspace.id, userId, slug, secret });
}

export interface Delivery {
  headers: Record<string, string>;
  raw: Buffer;
}

/** What GitHub sends for an event, signed; of another body each time, unless one is given. */
export function github(
  secret: string,
  {
    event = 'push',
    body = pushBody(),
    id = randomUUID(),
  }: { event?: string; body?: string | Buffer; id?: string } = {},
): Delivery {
  const raw = typeof body === 'string' ? Buffer.from(body) : body;
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'GitHub-Hookshot/1',
    'X-GitHub-Delivery': id,
    'X-GitHub-Event': event,
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
  };
  return { headers, raw };
}

export function pushBody(): string {
  return JSON.stringify({ ref: 'refs/heads/main', after: randomUUID(), repository: { full_name: 'acme/mill' } });
}

/** Sends a delivery. The answer must be one that the document describes. */
export function deliver<T>({ url }: TestApp, path: string, delivery: Partial<Delivery>) {
  return new Client(url).request<T>('POST', path, delivery);
}

/** A row of an active automation that waits for an event; nothing else about it matters here. */
export async function automationOn(
  { db }: TestApp,
  { workspace, user }: Member,
  connectionId: string,
  { triggerEvent = 'github.push', status = 'active' } = {},
): Promise<string> {
  const id = uuidv7();
  await db.query(
    `INSERT INTO automations (id, workspace_id, owner_id, connection_id, name, kind, status, content, trigger_event, overlap)
     VALUES ($1, $2, $3, $4, 'A', 'webhook', $5, 'x', $6, 'allow')`,
    [id, workspace.id, user.id, connectionId, status, triggerEvent],
  );
  return id;
}

export interface Entry {
  id: string;
  verdict: string;
  event: string | null;
  delivery_id: string | null;
  dedupe_key: string | null;
  payload: Buffer | null;
}

/** The log of a connection, the oldest entry first. */
export function entries({ db }: TestApp, { id }: { id: string }): Promise<Entry[]> {
  return db.query<Entry>('SELECT * FROM hook_deliveries WHERE connection_id = $1 ORDER BY id', [id]);
}

/** Waits for entries that no answer waits for; resolves with the verdicts, sorted. */
export function verdicts(service: TestApp, connection: { id: string }, ...wanted: string[]): Promise<string[]> {
  const sorted = wanted.toSorted();
  return until(`the verdicts ${sorted.join(', ')}`, async () => {
    const found = (await entries(service, connection)).map(({ verdict }) => verdict).sort();
    return JSON.stringify(found) === JSON.stringify(sorted) && found;
  });
}

/** The deliveries that jobs are about. */
export async function jobs({ db }: TestApp, deliveryIds: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT data->>'deliveryId' AS id FROM jobs WHERE queue = 'automation' AND data->>'deliveryId' = ANY($1)`,
    [deliveryIds],
  );
  return rows.map(({ id }) => id);
}
