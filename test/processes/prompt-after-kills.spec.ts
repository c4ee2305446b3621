import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { type Answer, type ChatRequest, ModelServer } from '../harness/model-server.js';
import { LONG } from '../harness/numbers.js';
import { newMark, processesGone, processesWith } from '../harness/processes.js';
import { PROVIDER_KINDS, type ProviderAnswer, type ProviderKind, ProviderServer } from '../harness/provider-server.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { ASK, BASH, PATCH, PLAN, WRITE } from '../harness/raw-calls.js';
import { createTask, finished, reaches, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { breaksOf, unpaired, WindowedModel } from '../harness/windowed-model.js';

const KEYS = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };
const WINDOW = 32_768;
/** The long form: `npm run test:processes -- --long prompt-after-kills`. */
const STEPS = LONG ? 500 : 120;
/** At every so-many-th step the worker is killed. */
const KILL_EVERY = LONG ? 20 : 35;

describe('What a model was once sent it is sent again, byte for byte, by processes that are killed and stopped (reference §15)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let member: Member;
  let provider: ProviderServer;
  let server: ModelServer;
  let windowed: WindowedModel;
  let models: { id: string; provider: string; baseUrl: string; contextWindow?: number }[];
  let worker: ServiceProcess;

  const api = useService(async () => {
    // The sandbox's users pass through it.
    chmodSync(folder.path, 0o711);
    [db, provider, server] = await Promise.all([createDatabase(), ProviderServer.start(), ModelServer.start()]);
    models = [
      // That of OpenAI writes patches, as plain text.
      ...PROVIDER_KINDS.map((kind) => {
        return { id: kind, provider: kind, model: kind === 'openai' ? 'gpt-5.5' : kind, baseUrl: provider.url };
      }),
      { id: 'windowed', provider: 'openai-compatible', baseUrl: server.url, contextWindow: WINDOW },
    ];
    writeFileSync(join(folder.path, 'millwright.json'), JSON.stringify({ models, titles: false }));
    return bootApp({ db, env: { DATA_DIR: folder.path, ...KEYS }, config: { models } });
  });
  beforeAll(async () => {
    member = await makeMember(api);
  });
  afterAll(async () => {
    await worker.end();
    await Promise.all([provider.stop(), server.stop()]);
    await db.drop();
    folder.remove();
  });

  const startWorker = async () => {
    worker = await ServiceProcess.start({
      ROLE: 'worker',
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      CONFIG_FILE: join(folder.path, 'millwright.json'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      LEASE_SECONDS: '600',
      LOG_LEVEL: 'warn',
      ...KEYS,
    });
  };
  /** Nobody waits for the leases of a worker that was killed. */
  const replace = async (signal: 'SIGKILL' | 'SIGTERM') => {
    await worker.end(signal);
    await db.query(`UPDATE runs SET lease_until = now() WHERE status = 'running'`);
    await startWorker();
  };

  it('of four kinds of provider: after approvals, a SIGKILL amid a command, an answer, a hand-over, a SIGKILL amid an answer, and a further message', async () => {
    const { client } = member;
    const mark = newMark();
    const stories = new Map(PROVIDER_KINDS.map((kind) => [kind, new Story(provider, kind, mark)]));
    provider.script = ({ kind }) => stories.get(kind)?.answer() ?? { text: 'Done.' };
    const all = <T>(each: (story: Story) => Promise<T>) => Promise.all([...stories.values()].map(each));
    await startWorker();

    await all(async (story) => {
      const { id } = await createTask(client, { content: 'Go.', model: story.kind, approvals: 'writes' });
      story.id = id;
      const first = await approvalOf(client, id);
      await answerApproval(client, id, first, { decision: 'approve' });
      const second = await approvalOf(client, id, first);
      await answerApproval(client, id, second, { decision: 'approve', remember: 'task' });
    });
    await until('the commands to run', () => processesWith(`sleep\0${mark}`).length === PROVIDER_KINDS.length);
    await replace('SIGKILL');
    await processesGone(`sleep ${mark}`);

    await all(async ({ id }) => {
      const interactionId = (await reaches(client, id, 'awaiting_input')).pendingInteraction?.id;
      await client.post(`/v1/tasks/${id}/interaction`, { interactionId, optionIds: ['2'] });
    });
    const held = (times: number) => [...stories.values()].every((story) => story.asked(HELD) === times);
    await until('the requests that are held', () => held(1));
    await replace('SIGTERM');
    await until('the requests of the worker that was handed the runs', () => held(2));
    await replace('SIGKILL');
    await until('the requests of the worker that took the runs over', () => held(3));
    await all(async (story) => {
      story.release();
      expect(await finished(client, story.id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
      await client.post(`/v1/tasks/${story.id}/messages`, { content: 'Once more.' });
      await until('the second turn to end', () => story.asked(LAST) === 1);
      expect(await finished(client, story.id)).toMatchObject({ result: { text: 'Done again.' } });
    });

    for (const story of stories.values()) {
      const results = await readResults(client, story.id);
      const written = story.kind === 'openai' ? 'apply_patch' : 'write';
      expect(results.map(({ name }) => name)).toEqual([...['todo', written, 'bash', 'bash', 'ask', 'edit', 'read']]);
      expect(results[3]?.error).toMatch(/may have run partly/);
      const { requests } = story;
      expect(requests).toHaveLength(LAST + 1 + 2);
      for (const [index, pieces] of requests.slice(1).entries()) {
        const before = requests[index] ?? [];
        expect(pieces.slice(0, before.length)).toEqual(before);
      }
      const last = requests.at(-1)?.join('\n') ?? '';
      expect(last.replaceAll('\\"', '"')).toContain(JSON.stringify(JSON.parse(ASK)));
      if (story.kind !== 'openai-compatible') expect(last).toContain('sealed');
      expect(last.includes(JSON.stringify(PATCH))).toBe(story.kind === 'openai');
    }
  });

  it(`of a window of ${WINDOW} tokens: none of ${STEPS} steps is longer, all calls have their results, and a worker that takes over sends the same`, async () => {
    let n = 0;
    let last = '';
    let kills = 0;
    let killing: Promise<void> = Promise.resolve();
    windowed = new WindowedModel(WINDOW, ({ messages }) => {
      // A worker that takes over asks again for the answer that did not come to be recorded.
      const sent = JSON.stringify(messages);
      if (sent !== last) n++;
      last = sent;
      return answerOf(n);
    });
    // Killed amid notes, amid an answer, and while an answer is on its way, in turns.
    server.script = async (request: ChatRequest, attempt: number): Promise<Answer> => {
      const answer = await windowed.script(request, attempt);
      const isDue = n >= kills * KILL_EVERY && (kills % 3 === 0) === (request.tools === undefined);
      if (!isDue) return answer;
      killing = killing.then(() => replace('SIGKILL'));
      return kills++ % 3 === 2 ? answer : { hang: true };
    };
    const { id } = await createTask(member.client, { content: 'Write files.', model: 'windowed' });
    const over = async () => {
      await killing;
      const [task] = await db.query<{ status: string }>('SELECT status FROM tasks WHERE id = $1', [id]);
      return task?.status !== 'queued' && task?.status !== 'running';
    };
    await until('the task to be over', over, { within: LONG ? 400_000 : 100_000, every: 100 });

    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(windowed.refused).toBe(0);
    const { steps } = windowed;
    expect(steps.flatMap(({ messages }) => unpaired(messages) ?? [])).toEqual([]);
    expect(n).toBe(STEPS + 1);
    expect(kills).toBeGreaterThanOrEqual(3);
    const [cuts] = await db.query<{ all: number; summaries: number }>(
      `SELECT count(*)::int AS all, count(*) FILTER (WHERE kind = 'summary')::int AS summaries FROM context_cuts WHERE task_id = $1`,
      [id],
    );
    expect(cuts?.summaries).toBeGreaterThan(0);
    // A new prompt only after a cut that is on record.
    expect(breaksOf(steps)).toBeLessThanOrEqual(cuts?.all ?? 0);
    // The step that was under way is asked for once more, in the same words.
    const distinct = new Set(steps.map(({ messages }) => JSON.stringify(messages)));
    expect(distinct.size).toBe(STEPS + 1);
    expect(steps.length).toBeLessThanOrEqual(STEPS + 1 + kills);
  }, 420_000);
});

const EDIT = '{"path": "a.txt", "oldText": "B", "newText": "C", "unknown": {"zz": 1, "a": null}}';
/** Places in a story: the step whose answer is held, and the last one. */
const HELD = 4;
const LAST = 7;

/** The same task for each kind of provider. */
class Story {
  id = '';
  private held: (answer: ProviderAnswer) => void = () => undefined;
  private readonly script: (ProviderAnswer | (() => Promise<ProviderAnswer>))[];

  constructor(
    private readonly provider: ProviderServer,
    readonly kind: ProviderKind,
    mark: string,
  ) {
    const call = (name: string, args: string, text?: string) => ({
      ...(text === undefined ? {} : { text }),
      calls: [{ name, arguments: args }],
    });
    const plan = { name: 'todo', arguments: PLAN };
    const patch = { name: 'apply_patch', arguments: PATCH, freeform: true as const };
    const write = kind === 'openai' ? patch : { name: 'write', arguments: WRITE };
    this.script = [
      { text: 'I begin. ', calls: [plan, write] },
      call('bash', BASH),
      call('bash', JSON.stringify({ timeoutSeconds: 600, command: `sleep ${mark}` })),
      call('ask', ASK, 'I ask.'),
      () => new Promise((resolve) => (this.held = resolve)),
      { text: 'Done.' },
      call('read', '{"path": "a.txt"}'),
      { text: 'Done again.' },
    ];
  }

  get requests(): string[][] {
    return this.provider.requests.flatMap(({ kind, pieces }) => (kind === this.kind ? [pieces] : []));
  }

  /** How often the step at a place was asked for: a request that is sent again is the same step. */
  asked(place: number): number {
    return this.places().filter((one) => one === place).length;
  }

  answer(): ProviderAnswer | Promise<ProviderAnswer> {
    const step = this.script[this.places().at(-1) ?? 0] ?? { text: 'Done.' };
    return typeof step === 'function' ? step() : step;
  }

  release(): void {
    this.held({ calls: [{ name: 'edit', arguments: EDIT }] });
  }

  private places(): number[] {
    let place = -1;
    let last = '';
    return this.requests.map((pieces) => {
      const sent = pieces.join('\n');
      if (sent !== last) place++;
      last = sent;
      return place;
    });
  }
}

/** Names without digits: calls that differ only in their digits look alike. */
const pathOf = (n: number) => `${[...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}.txt`;

/** Of the n-th step, from 1: short files, long ones, and every fifth reads what was written. */
function answerOf(n: number): Answer {
  const one = (name: string, args: unknown, text = ''): Answer => ({ text, calls: [{ name, arguments: args }] });
  if (n > STEPS) return { text: 'Done.' };
  if (n % 5 === 0) return one('read', { path: pathOf(n - 1) });
  const content = `${pathOf(n)} ${'A line of a file. '.repeat(n % 2 === 0 ? 220 : 8)}`;
  return one('write', { path: pathOf(n), content }, content);
}
