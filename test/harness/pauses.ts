// Tasks that tests pause and resume, with a model that answers when it is told to.
import { jest } from '@jest/globals';
import { RunClaims } from '../../src/work/runs/run-claims.js';
import type { TestApp } from './app.js';
import { type ErrorBody, makeMember, type Member } from './client.js';
import { readEvents } from './events.js';
import type { HeldModel } from './held-model.js';
import { createTask, readTask, type TaskBody } from './tasks.js';
import { until } from './until.js';

export type PausedTask = TaskBody & { resumesAt: string | null; waitingFor: { code: string } | null };
export type Answered = ErrorBody & { task: PausedTask };

export const PAUSED = { code: 'paused', message: 'Paused on request.', retryable: true };

export class PauseBench {
  private constructor(
    private readonly service: Pick<TestApp, 'app' | 'db'>,
    readonly model: HeldModel,
    readonly member: Member,
  ) {}

  static async make(service: TestApp, model: HeldModel): Promise<PauseBench> {
    return new PauseBench(service, model, await makeMember(service));
  }

  get claims(): RunClaims {
    return this.service.app.get(RunClaims, { strict: false });
  }

  ask(verb: string, id: string, body?: object) {
    return this.member.client.post<Answered>(`/v1/tasks/${id}/${verb}`, body);
  }

  async moved(verb: string, id: string, body?: object): Promise<PausedTask> {
    const answer = await this.ask(verb, id, body);
    if (answer.status !== 200) throw new Error(`${verb} answers ${answer.status}: ${answer.text}`);
    return answer.body.task;
  }

  pause(id: string, body?: object): Promise<PausedTask> {
    return this.moved('pause', id, body);
  }

  resume(id: string): Promise<PausedTask> {
    return this.moved('resume', id);
  }

  async read(id: string): Promise<PausedTask> {
    return (await readTask(this.member.client, id)) as PausedTask;
  }

  async send(id: string, content: string, more = {}): Promise<void> {
    expect((await this.member.client.post(`/v1/tasks/${id}/messages`, { content, ...more })).status).toBe(202);
  }

  /** Oldest first. */
  runsOf(id: string) {
    const query = 'SELECT id, status FROM runs WHERE task_id = $1 ORDER BY created_at';
    return this.service.db.query<{ id: string; status: string }>(query, [id]);
  }

  /** Resolves when no worker has the task any more. */
  stopped(id: string) {
    return until('the task to be queued', async () => (await this.read(id)).status === 'queued');
  }

  /** The events of the task itself, each with the code of its reason and the names of what it changed. */
  async statuses(id: string): Promise<string[]> {
    return (await readEvents(this.service.db, id)).flatMap(({ type, ...event }) => {
      const { data } = event as { data?: { statusReason?: { code: string } | null; changed?: string[] } };
      const words = [type, data?.statusReason?.code, ...(data?.changed ?? [])];
      return type.startsWith('task.') ? [words.filter((word) => word !== undefined).join(' ')] : [];
    });
  }

  /** A task that no worker has claimed, paused. */
  async pausedUnclaimed(content = 'Begin.', body?: object): Promise<string> {
    const claim = jest.spyOn(this.claims, 'claim').mockResolvedValue(null);
    const { id } = await createTask(this.member.client, { content });
    await this.pause(id, body);
    claim.mockRestore();
    return id;
  }

  /** A task whose agent asks the model for the first time. */
  async running() {
    const { id } = await createTask(this.member.client, { content: 'Begin.' });
    return { id, first: await this.model.asked() };
  }
}
