// The attacking tenant: one workspace, one key. It does what the key may do, and does not wait for anything but its answers.
import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Member } from '../harness/client.js';
import { LONG } from '../harness/numbers.js';
import { until } from '../harness/until.js';
import type { Delivery, Planned } from './planned.js';

export interface Answer {
  /** 0 without an answer. */
  status: number;
  body: string;
}

interface Asked {
  secret: string;
  body?: string | Buffer | undefined;
  headers?: Record<string, string>;
  from?: string | undefined;
}

interface TaskPage {
  tasks: { id: string; status: string }[];
  nextCursor: string | null;
}

const FINAL = ['completed', 'failed', 'cancelled'];
/** With all attacks together hundreds of tasks wait for 16 places. */
const PATIENCE_MS = LONG ? 240_000 : 150_000;

export class TenantA {
  /** How often which status came: 0 is no answer. */
  readonly statuses = new Map<number, number>();
  /** From which it has sent its requests. */
  readonly addresses = new Set<string>();
  /** Tasks that it has created. */
  readonly created: string[] = [];
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    readonly url: string,
    private readonly member: Member,
    /** A second key of the same workspace, which tidies up: its limits are its own. */
    private readonly tidier: string,
    /** Its automations. */
    readonly planned: Planned,
    /** Further keys of the workspace, of one that follows its tasks: each has streams of its own. */
    readonly followers: readonly string[] = [],
  ) {}

  get secret(): string {
    return this.member.key.secret;
  }

  /** One request with a key of its own choice, from an address of its own choice. */
  async ask(method: string, path: string, { secret, body, headers = {}, from }: Asked): Promise<Answer> {
    const sized =
      body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body), 'Idempotency-Key': randomUUID() };
    const all = { Authorization: `Bearer ${secret}`, ...sized, ...headers };
    const answer = this.counted(await this.exchange(method, path, all, body, from));
    const made = answer.status === 201 && path === '/v1/tasks' ? /"id":"([^"]+)"/.exec(answer.body)?.[1] : undefined;
    if (made !== undefined) this.created.push(made);
    return answer;
  }

  /** A request whose answer is not waited for; `sent`: resolves when it is under way. */
  hold(path: string, secret: string): { sent: Promise<void>; end: () => void } {
    const call = request(this.url + path, { headers: { Authorization: `Bearer ${secret}` }, agent: false });
    const sent = new Promise<void>((resolve) => call.on('error', () => resolve()).once('finish', resolve));
    call.on('response', (answer: IncomingMessage) => answer.on('error', ignore).resume()).end();
    return { sent, end: () => call.destroy() };
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** @param json an object, or a text that is sent as it is. */
  post(path: string, json?: unknown, key: string = randomUUID()): Promise<Answer> {
    const body = json === undefined || typeof json === 'string' ? json : JSON.stringify(json);
    return this.send('POST', path, { type: 'application/json', key, ...(body === undefined ? {} : { body }) });
  }

  /** What a provider sends, which has no key. */
  async deliver({ path, headers, body }: Delivery): Promise<Answer> {
    return this.counted(await this.exchange('POST', path, { ...headers, 'Content-Length': body.length }, body));
  }

  upload(bytes: Buffer, name = 'a.bin'): Promise<Answer> {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--b--\r\n')]);
    return this.send('POST', '/v1/uploads', { body, type: 'multipart/form-data; boundary=b' });
  }

  /** Creates a task of the model `runbook`; null when that was refused. */
  async task(content: string, more: Record<string, unknown> = {}): Promise<string | null> {
    const { status, body } = await this.post('/v1/tasks', { content, model: 'runbook', ...more });
    if (status !== 201) return null;
    const { id } = (JSON.parse(body) as { task: { id: string } }).task;
    this.created.push(id);
    return id;
  }

  /** Starts so many tasks with these blocks, each block in a fence of its own, and waits for their end. */
  async tasks(count: number, ...blocks: (string | { info: string; text: string })[]): Promise<void> {
    const fences = blocks.map((block) => (typeof block === 'string' ? { info: 'bash may-fail', text: block } : block));
    const content = fences
      .map(({ info, text }) => `\`\`\`${info}\n${text === '' ? '' : `${text}\n`}\`\`\``)
      .join('\n\n');
    await Promise.all(Array.from({ length: count }, () => this.task(content)));
    await this.over();
  }

  /** Waits until none of its tasks has anything to do. */
  async over(): Promise<void> {
    const none = async () => (await this.openTasks()).length === 0;
    await until('the tasks of the attack to be over', none, { within: PATIENCE_MS, every: 200 });
  }

  /** Cancels and deletes all its tasks. */
  async tidy(): Promise<void> {
    for (const id of await this.openTasks()) await this.send('POST', `/v1/tasks/${id}/cancel`, {}, this.tidier);
    for (const { id } of await this.list()) await this.send('DELETE', `/v1/tasks/${id}`, {}, this.tidier);
  }

  close(): void {
    this.agent.destroy();
  }

  private async openTasks(): Promise<string[]> {
    return (await this.list()).filter(({ status }) => !FINAL.includes(status)).map(({ id }) => id);
  }

  /** All its tasks. A service that does not answer for a while is asked again. */
  private async list(): Promise<{ id: string; status: string }[]> {
    const found: { id: string; status: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/v1/tasks?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await until(
        'the list of tasks',
        async () => {
          const { status, body } = await this.send('GET', path, {}, this.tidier);
          return status === 200 ? (JSON.parse(body) as TaskPage) : null;
        },
        { within: PATIENCE_MS, every: 200 },
      );
      found.push(...page.tasks);
      cursor = page.nextCursor;
    }
    return found;
  }

  private async send(
    method: string,
    path: string,
    { body, type, key = randomUUID() }: { body?: string | Buffer; type?: string; key?: string } = {},
    secret = this.secret,
  ): Promise<Answer> {
    const headers = {
      Authorization: `Bearer ${secret}`,
      'Idempotency-Key': key,
      ...(type === undefined || body === undefined
        ? {}
        : { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }),
    };
    const answer = await this.exchange(method, path, headers, body);
    return secret === this.secret ? this.counted(answer) : answer;
  }

  private exchange(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    body: string | Buffer | undefined,
    localAddress?: string,
  ): Promise<Answer> {
    this.addresses.add(localAddress ?? '127.0.0.1');
    return new Promise((resolve) => {
      const none = () => resolve({ status: 0, body: '' });
      const from = localAddress === undefined ? {} : { localAddress };
      const req = request(this.url + path, { method, headers, agent: this.agent, ...from }, (message) => {
        void textOf(message).then((text) => resolve({ status: message.statusCode ?? 0, body: text }), none);
      });
      // A service that answers before the body has come closes the connection, which says so once more when the answer is over.
      req.on('socket', (socket) => socket.off('error', ignore).on('error', ignore));
      req.on('error', none).end(body);
    });
  }

  private counted(answer: Answer): Answer {
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    return answer;
  }
}

const ignore = () => undefined;

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
