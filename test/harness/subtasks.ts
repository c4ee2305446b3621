// Tasks whose agents make tasks, with a model that each message scripts (reference §27).
import { Reconciler } from '../../src/work/runs/reconciler.js';
import type { TestApp } from './app.js';
import type { Answer as ModelAnswer } from './model-server.js';
import type { Client, Member } from './client.js';
import { call, createTask, finished, reaches, readResults, readTask, script, type TaskBody } from './tasks.js';
import { until } from './until.js';

export interface Cost {
  amount: string;
  currency: string;
}
export type Usage = Record<'inputTokens' | 'outputTokens' | 'steps', number> & { cost: Cost | null };
export type ChildTask = Omit<TaskBody, 'usage'> & {
  parentTaskId: string | null;
  source: { type: string };
  budget: Record<string, number | string | null> | null;
  usage: Usage;
  children: { tasks: number; usage: Usage };
  changes: { files: number } | null;
};

/** What a call says of one of its tasks. */
export interface Told {
  id: string;
  title: string;
  status: string;
  statusReason: { code: string } | null;
  text: string | null;
  wholeText?: string;
  output: unknown;
  changes: { files: number; additions: number; deletions: number } | null;
  patch: string | null;
  files: string[];
}

export const WAITING = { code: 'waiting_for_tasks', message: expect.any(String), retryable: true };
export const DONE = { text: 'Done.' };
export const bash = (command: string): ModelAnswer => call('bash', { command });

/** A task of a call, which does these steps. */
export const part = (title: string, steps: Parameters<typeof script> = [], more: object = {}) => ({
  ...{ title, content: script(...steps, { text: `${title} is done.` }), folder: 'empty', ...more },
});
export const delegate = (...tasks: object[]): ModelAnswer => call('delegate', { tasks });
export const question = (text = 'Which?'): ModelAnswer => call('ask', { question: text });

export class SubtaskBench {
  constructor(readonly member: Member) {}

  get client(): Client {
    return this.member.client;
  }

  async begin(steps: ModelAnswer[], more: Record<string, unknown> = {}): Promise<string> {
    return (await createTask(this.client, { content: script(...steps, DONE), ...more })).id;
  }

  async run(steps: ModelAnswer[], more: Record<string, unknown> = {}): Promise<ChildTask> {
    return this.ended(await this.begin(steps, more));
  }

  async read(id: string): Promise<ChildTask> {
    return (await readTask(this.client, id)) as unknown as ChildTask;
  }

  async ended(id: string): Promise<ChildTask> {
    await finished(this.client, id);
    return this.read(id);
  }

  /** The tasks that it has made, oldest first. */
  async childrenOf(id: string): Promise<ChildTask[]> {
    const query = `/v1/tasks?parentTaskId=${id}&archived=all&limit=100`;
    const { body } = await this.client.get<{ tasks: ChildTask[] }>(query);
    return body.tasks.reverse();
  }

  /** What the calls have answered, in their order. */
  async results(id: string): Promise<{ status: string; tasks: Told[]; error?: string }[]> {
    return (await readResults(this.client, id)).flatMap(({ name, status = '', output, error }) =>
      name === 'delegate' || (output as { tasks?: unknown } | null)?.tasks !== undefined || error !== undefined
        ? [
            {
              status,
              tasks: (output as { tasks: Told[] } | null)?.tasks ?? [],
              ...(error === undefined ? {} : { error }),
            },
          ]
        : [],
    );
  }

  async told(id: string): Promise<Told[]> {
    const [first] = await this.results(id);
    if (first === undefined || first.error !== undefined) throw new Error(`No result: ${first?.error}`);
    return first.tasks;
  }

  /** Resolves when the task waits for those that it has made, with these. */
  async waiting(id: string, count: number): Promise<ChildTask[]> {
    return until('the task to wait for others', async () => {
      const { status, statusReason } = await this.read(id);
      const children = await this.childrenOf(id);
      return status === 'queued' && statusReason?.code === WAITING.code && children.length === count ? children : null;
    });
  }

  /** Resolves when a child asks. */
  async asks(id: string): Promise<NonNullable<TaskBody['pendingInteraction']>> {
    const { pendingInteraction } = await reaches(this.client, id, 'awaiting_input');
    if (pendingInteraction === null) throw new Error('It asks nothing.');
    return pendingInteraction;
  }

  async answer(id: string, content = 'This.'): Promise<void> {
    const { id: interactionId } = await this.asks(id);
    const sent = await this.client.post(`/v1/tasks/${id}/interaction`, { interactionId, content });
    expect(sent.status).toBe(202);
  }

  async ask(verb: 'cancel' | 'pause' | 'resume', id: string): Promise<ChildTask> {
    const { status, body } = await this.client.post<{ task: ChildTask }>(`/v1/tasks/${id}/${verb}`);
    expect(status).toBe(200);
    return body.task;
  }

  /** What a worker does each minute for tasks that wait. */
  async lookOf({ app }: Pick<TestApp, 'app'>): Promise<void> {
    await app.get(Reconciler, { strict: false }).wakeParents();
  }

  async send(id: string, content: string, more: object = {}): Promise<void> {
    expect((await this.client.post(`/v1/tasks/${id}/messages`, { content, ...more })).status).toBe(202);
  }
}
