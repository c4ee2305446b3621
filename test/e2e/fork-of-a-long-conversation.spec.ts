import { jest } from '@jest/globals';
import { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, runTask, script, type TaskBody } from '../harness/tasks.js';

const MANY = 10_000;

// Counted, not timed.
describe('A fork of a long conversation (reference §5)', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());

  /** A fork, and how many statements its transaction had: others go on beside it. */
  const fork = async (taskId: string) => {
    const statements = jest.spyOn(UnitOfWork.prototype, 'run');
    try {
      const answer = await who.client.post<{ task: TaskBody }>(`/v1/tasks/${taskId}/fork`, {});
      expect(answer.status).toBe(201);
      const { calls, contexts } = statements.mock;
      const its = contexts[calls.findIndex(([{ text }]) => text.includes('INSERT INTO snapshot_uses'))];
      return { made: answer.body.task, statements: contexts.filter((context) => context === its).length };
    } finally {
      statements.mockRestore();
    }
  };

  it(`takes as few statements for ${MANY} messages as for two, and has them all in their order`, async () => {
    const work = call('bash', { command: 'echo kept > a' });
    const { id } = await runTask(who.client, script(work, { text: 'Done.' }));
    const short = await fork(id);
    // Each has a call, as most messages of an agent do.
    await service.db.query(
      `WITH made AS (
        INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
        SELECT gen_random_uuid(), $1, n + 10, n + 10, 1, 'assistant', 'complete', jsonb_build_array(jsonb_build_object('type', 'text', 'text', n::text))
        FROM generate_series(1, $2::int) n RETURNING id, seq, created_at)
      INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state, output, finished_at)
      SELECT made.id, 0, 'call-' || made.seq, 'read', '{"path": "a"}', 'success', '{}', made.created_at FROM made`,
      [id, MANY],
    );
    const long = await fork(id);
    expect(long.statements).toBe(short.statements);
    expect(short.statements).toBeGreaterThan(2);
    expect(long.made.messageCount).toBe(short.made.messageCount + MANY);
    const alike = `SELECT count(*)::int AS n FROM messages a JOIN messages b USING (seq, read_seq, parts)
      JOIN tool_invocations v ON v.message_id = a.id JOIN tool_invocations w ON w.message_id = b.id AND w.tool_call_id = v.tool_call_id
      WHERE a.task_id = $1 AND b.task_id = $2 AND a.id <> b.id`;
    expect(await service.db.query(alike, [id, long.made.id])).toEqual([{ n: MANY + 1 }]);
  });
});
