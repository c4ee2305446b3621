// Endpoints that webhooks lead to, and what a client does with webhooks.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Client } from './client.js';
import { until } from './until.js';

/** The endpoints of the tests are of this host. */
export const HERE = { WEBHOOK_NETWORKS: '127.0.0.0/8' };

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: { id: string; type: string; timestamp: string; data: Record<string, unknown> };
}

type Behaviour = (received: Received, response: ServerResponse) => void;

/** A server with endpoints by their paths. One without a behaviour of its own answers 200. */
export class Receiver {
  readonly received: Received[] = [];
  private readonly behaviours = new Map<string, Behaviour>();
  /** Requests that are not answered, by their path, now and at most. */
  readonly open = new Map<string, number>();
  readonly most = new Map<string, number>();

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<Receiver> {
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      const open = (receiver.open.get(path) ?? 0) + 1;
      receiver.open.set(path, open);
      receiver.most.set(path, Math.max(open, receiver.most.get(path) ?? 0));
      response.on('close', () => receiver.open.set(path, (receiver.open.get(path) ?? 0) - 1));
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const event = JSON.parse(body) as Received['event'];
        const received = { path, headers: request.headers, body, event };
        receiver.received.push(received);
        const behaviour = receiver.behaviours.get(path);
        if (behaviour === undefined) response.end('ok');
        else behaviour(received, response);
      });
    });
    const receiver = new Receiver(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  on(path: string, behaviour: Behaviour): void {
    this.behaviours.set(path, behaviour);
  }

  /** Answers with this status, and these headers. */
  answer(path: string, status: number, headers: Record<string, string> = {}): void {
    this.on(path, (_received, response) => void response.writeHead(status, headers).end());
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** Waits until an endpoint has got so many requests. */
  gets(path: string, count = 1): Promise<Received[]> {
    return until(`${count} requests at ${path}`, () => this.at(path).length >= count && this.at(path));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Whether a request is signed with a secret, by the library that receivers use. */
export function isSignedWith(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

export interface WebhookBody {
  id: string;
  url: string;
  description: string | null;
  types: string[];
  projectId: string | null;
  status: string;
  disabledReason: { code: string; message: string } | null;
  secretPrefix: string;
  previousSecretUntil: string | null;
  failingSince: string | null;
  lastSuccessAt: string | null;
  createdBy: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

export interface DeliveryBody {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  taskId: string | null;
  status: string;
  attempts: number;
  nextAttemptAt: string | null;
  lastAttempt: { at: string; durationMs: number; status: number | null; error: string | null } | null;
  redelivery: boolean;
  createdAt: string;
}
export type WholeDeliveryBody = DeliveryBody & {
  body: string;
  attemptLog: (NonNullable<DeliveryBody['lastAttempt']> & { response: string | null })[];
};

/** Fails unless it is answered with 201. */
export async function createWebhook(client: Client, json: { url: string; types?: string[]; projectId?: string }) {
  const answer = await client.post<{ webhook: WebhookBody; secret: string }>('/v1/webhooks', { types: ['*'], ...json });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
}

export async function readWebhook(client: Client, id: string): Promise<WebhookBody> {
  return (await client.get<{ webhook: WebhookBody }>(`/v1/webhooks/${id}`)).body.webhook;
}

/** The newest first; `query` without a question mark. */
export async function deliveriesOf(client: Client, webhookId: string, query = ''): Promise<DeliveryBody[]> {
  const path = `/v1/webhooks/${webhookId}/deliveries?limit=100&${query}`;
  const answer = await client.get<{ deliveries: DeliveryBody[] }>(path);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.deliveries;
}

export async function readDelivery(client: Client, { webhookId, id }: DeliveryBody): Promise<WholeDeliveryBody> {
  const path = `/v1/webhooks/${webhookId}/deliveries/${id}`;
  return (await client.get<{ delivery: WholeDeliveryBody }>(path)).body.delivery;
}

/** Carries out `test`, `redeliver`, and what else answers with a delivery. */
export async function askFor(client: Client, path: string): Promise<DeliveryBody> {
  const { status, body, text } = await client.post<{ delivery: DeliveryBody }>(`/v1/webhooks/${path}`);
  if (status !== 202) throw new Error(`${status}: ${text}`);
  return body.delivery;
}

/** Waits until a delivery is as it is expected to be. */
export function becomes(
  client: Client,
  delivery: DeliveryBody,
  expected: Partial<DeliveryBody>,
): Promise<WholeDeliveryBody> {
  return until(`delivery ${delivery.id} to be ${JSON.stringify(expected)}`, async () => {
    const found = await readDelivery(client, delivery);
    return Object.entries(expected).every(([key, value]) => found[key as keyof DeliveryBody] === value) && found;
  });
}
