import { Module } from '@nestjs/common';
import { newId } from '../../src/platform/database/ids.js';
import {
  AgentEngine,
  type AgentEvent,
  type AgentFeedback,
  type AgentInput,
  type AgentOutcome,
  Plugin,
} from 'millwright';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, finished, readResults, runTask } from '../harness/tasks.js';

/** Makes a step with a call; breaks on `Break.` before the call has a result. */
@Plugin(AgentEngine, 'broken')
class BrokenEngine extends AgentEngine {
  async *run({ messages }: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    await Promise.resolve();
    if (JSON.stringify(messages.at(-1)?.parts).includes('Break.')) {
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
      const calls = [{ toolCallId: 'c', name: 'bash', input: { command: 'true' } }];
      yield { type: 'step', messageId: newId(), parts: [{ type: 'tool', toolCallId: 'c' }], calls, usage };
      throw new Error('Kaput: no /srv/vault here');
    }
    return { type: 'completed', text: 'Done.' };
  }
}

@Module({ providers: [BrokenEngine] })
class BrokenEngineModule {}

describe('An engine that throws', () => {
  let member: Member;

  const service = useService(() =>
    bootWorker({
      // A place that were not given back would be missed.
      env: { WORKER_CONCURRENCY: '1', AGENT_ENGINE: 'broken' },
      imports: [BrokenEngineModule],
    }),
  );
  beforeAll(async () => {
    member = await makeMember(service);
  });

  it('fails its task as internal_error, says nothing of the cause, and leaves its worker to the next task', async () => {
    const { client } = member;
    const { id } = await createTask(client, { content: 'Break.' });
    const after = await createTask(client, { content: 'After it.' });
    const statusReason = { code: 'internal_error', message: expect.stringMatching(/\S.*\.$/), retryable: true };
    const failed = { status: 'failed', statusReason, finishedAt: expect.any(String), result: null };
    expect(await finished(client, id)).toMatchObject(failed);
    expect(await readResults(client, id)).toMatchObject([{ name: 'bash', status: 'error' }]);
    expect(await service.db.query('SELECT status FROM runs WHERE task_id = $1', [id])).toEqual([
      { status: 'finished' },
    ]);
    const paths = [`/v1/tasks/${id}`, `/v1/tasks/${id}/messages`, `/v1/tasks/${id}/files`, '/v1/tasks'];
    for (const path of paths) expect((await client.get(path)).text).not.toMatch(/kaput|vault/i);
    expect(await finished(client, after.id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
  });

  it('a message tries again', async () => {
    const { id } = await runTask(member.client, 'Break.');
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Again.' })).status).toBe(202);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
  });
});

it('An engine that nobody provides stops the boot with the names that there are', async () => {
  const boot = bootApp({ env: { ROLE: 'worker', AGENT_ENGINE: 'turbo' }, imports: [BrokenEngineModule] });
  await expect(boot).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: 'AGENT_ENGINE: one of broken, loop is expected.',
  });
});
