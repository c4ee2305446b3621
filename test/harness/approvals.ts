// Tasks that ask before each command or file change, and the people who answer.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootWorker, type TestApp } from './app.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from './client.js';
import { ModelServer } from './model-server.js';
import { createTask, readTask, type TaskBody } from './tasks.js';
import { until } from './until.js';

export type Approval = NonNullable<TaskBody['pendingInteraction']>;

/** Waits until the task asks, and not what it has asked before; fails when that is no approval. */
export async function approvalOf(client: Client, id: string, before?: Approval): Promise<Approval> {
  const pendingInteraction = await until('the task to ask', async () => {
    const task = await readTask(client, id);
    return task.pendingInteraction?.id === before?.id ? null : task.pendingInteraction;
  });
  if (pendingInteraction.type !== 'approval') throw new Error(`No approval: ${JSON.stringify(pendingInteraction)}`);
  return pendingInteraction;
}

/** Answers an approval, whatever comes of it. */
export function answerApproval<T = { task: TaskBody }>(
  client: Client,
  id: string,
  { id: interactionId }: Approval,
  body: Record<string, unknown>,
): Promise<Answer<T>> {
  return client.post(`/v1/tasks/${id}/interaction`, { interactionId, ...body });
}

/** A service with the runbook and the scripted model, and a member whose tasks ask. */
export class ApprovalBench {
  private constructor(
    readonly model: ModelServer,
    readonly service: TestApp,
    readonly member: Member,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<ApprovalBench> {
    const model = await ModelServer.start();
    const models = [
      { id: 'scripted', provider: 'openai-compatible' },
      { id: 'runbook', provider: 'runbook' },
    ];
    const service = await bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, ...env }, config: { models } });
    return new ApprovalBench(model, service, await makeMember(service));
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.model.stop();
  }

  get client(): Client {
    return this.member.client;
  }

  /** A task with approvals, at its first one. */
  async asked(content: string, more: Record<string, unknown> = {}): Promise<{ id: string; approval: Approval }> {
    const { id } = await createTask(this.client, { content, approvals: 'writes', ...more });
    return { id, approval: await approvalOf(this.client, id) };
  }

  approval(id: string, before?: Approval): Promise<Approval> {
    return approvalOf(this.client, id, before);
  }

  /** Answers and fails unless that is accepted. */
  async decide(id: string, approval: Approval, body: Record<string, unknown>): Promise<TaskBody> {
    const answer = await answerApproval(this.client, id, approval, body);
    expect(answer.status).toBe(202);
    return answer.body.task;
  }

  /** Status, code and param of a refused answer. */
  async refusal(id: string, approval: Approval, body: Record<string, unknown>): Promise<unknown[]> {
    const { status, body: fault } = await answerApproval<ErrorBody>(this.client, id, approval, body);
    return [status, fault.error.code, fault.error.param];
  }

  /** As if its time were over. */
  async expire({ id }: Approval): Promise<void> {
    const past = `UPDATE interactions SET expires_at = now() - interval '1 second' WHERE id = $1`;
    await this.service.db.query(past, [id]);
  }

  /** What lies in a task's workdir; a workdir that was never opened does not exist. */
  workdir(id: string): string[] {
    const folder = join(this.service.app.get(DataDir).path, 'workdirs', id);
    try {
      return readdirSync(folder).sort();
    } catch {
      return [];
    }
  }
}
