import { v7 as uuid } from 'uuid';
import { EXPOSABLE } from '../../src/platform/config/config-file.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, type TaskBody } from '../harness/tasks.js';

describe('The transparency policy covers what a task tells too (reference §6)', () => {
  const HIDDEN = EXPOSABLE.filter((kind) => kind !== 'text' && kind !== 'tool_activity');
  const ASKS = {
    approval: 'May the agent run this command (bash)?\n\ncat secret',
    question: 'Which of the two?',
    choice: 'Red or blue?',
  } as const;
  type Asks = keyof typeof ASKS;

  /** What becomes of tasks is written as workers would write it: nobody works here. */
  class Scene {
    private constructor(
      readonly service: TestApp,
      readonly member: Member,
    ) {}

    static async start(exposed: readonly string[] | null, transparency = {}): Promise<Scene> {
      const service = await bootApp({ env: { ROLE: 'api' }, config: { transparency } });
      const scene = new Scene(service, await makeMember(service));
      await scene.expose(exposed);
      return scene;
    }

    expose(kinds: readonly string[] | null): Promise<unknown> {
      return this.service.app.get(WorkspacesService).expose(this.member.workspace.id, kinds);
    }

    async completed(): Promise<string> {
      const { id } = await createTask(this.member.client, { content: 'Do it.' });
      await this.service.db.query(
        `UPDATE tasks SET status = 'completed', result_text = 'The secret.', result_file_ids = '{}', result_output = '"The secret."' WHERE id = $1`,
        [id],
      );
      return id;
    }

    async asking(type: Asks): Promise<string> {
      const { id } = await createTask(this.member.client, { content: 'Do it.' });
      const messageId = uuid();
      await this.service.db.query(
        `WITH message AS (
           INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
           VALUES ($2, $1, 2, 2, 1, 'assistant', 'in_progress', '[{"type": "tool", "toolCallId": "call_1"}]')),
         call AS (
           INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state)
           VALUES ($2, 0, 'call_1', CASE $4 WHEN 'approval' THEN 'bash' ELSE 'ask' END, '{"command": "cat secret"}', 'running')),
         asked AS (
           INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, options, expires_at)
           VALUES ($3, $1, $2, 'call_1', $4::text, $5, CASE $4 WHEN 'choice' THEN $6::jsonb END, now() + interval '1 hour'))
         UPDATE tasks SET status = 'awaiting_input', turn = 1, last_seq = 2 WHERE id = $1`,
        [id, messageId, uuid(), type, ASKS[type], JSON.stringify([{ id: 'red', label: 'Red', description: null }])],
      );
      await this.service.db.query(`UPDATE runs SET status = 'finished', finished_at = now() WHERE task_id = $1`, [id]);
      return id;
    }

    /** The task as reading it, the list and a change answer it: all the same. */
    async told(id: string): Promise<TaskBody> {
      const { client } = this.member;
      const read = (await client.get<{ task: TaskBody }>(`/v1/tasks/${id}`)).body.task;
      const { tasks } = (await client.get<{ tasks: TaskBody[] }>('/v1/tasks')).body;
      expect(tasks.find((task) => task.id === id)).toEqual(read);
      const changed = await client.patch<{ task: TaskBody }>(`/v1/tasks/${id}`, {});
      expect(changed.body.task).toEqual(read);
      return read;
    }
  }

  const POLICIES: [string, () => Promise<Scene>][] = [
    ['the deployment’s', () => Scene.start(null, { text: false, tool_activity: false })],
    ['the workspace’s own', () => Scene.start(HIDDEN)],
  ];
  describe.each(POLICIES)('with text and tool_activity off by %s', (_, start) => {
    let scene: Scene;
    beforeAll(async () => (scene = await start()));
    afterAll(() => scene.service.close());

    it('the result of a task is without its text', async () => {
      expect((await scene.told(await scene.completed())).result).toEqual({ text: null, fileIds: [], output: null });
    });

    it('an approval names its tool, and says nothing of the call', async () => {
      const { pendingInteraction } = await scene.told(await scene.asking('approval'));
      expect(pendingInteraction).toMatchObject({
        question: 'May the agent use the tool bash?',
        toolCall: { toolCallId: 'call_1', name: 'bash', input: null },
      });
    });

    it.each(['question', 'choice'] as const)('a %s is shown: a person must answer it', async (type) => {
      const { pendingInteraction } = await scene.told(await scene.asking(type));
      expect(pendingInteraction).toMatchObject({ type, question: ASKS[type], toolCall: null });
    });

    it('no other answer says more: a cancel, a message, an answer', async () => {
      const { client } = scene.member;
      const approval = async () => {
        const id = await scene.asking('approval');
        return { id, interactionId: (await scene.told(id)).pendingInteraction?.id };
      };
      const [one, two, three] = [await approval(), await approval(), await approval()];
      const answers = [
        await client.post(`/v1/tasks/${one.id}/cancel`),
        await client.post(`/v1/tasks/${two.id}/messages`, { content: 'Rather not.' }),
        await client.post(`/v1/tasks/${three.id}/interaction`, {
          interactionId: three.interactionId,
          decision: 'deny',
        }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 202, 202]);
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('secret');
    });
  });

  describe('of a workspace, in place of the deployment’s, with', () => {
    let scene: Scene;
    beforeAll(async () => (scene = await Scene.start(null, { text: false, tool_activity: false })));
    afterAll(() => scene.service.close());

    it.each([
      [
        'text',
        { text: null },
        { question: ASKS.approval, toolCall: { name: 'bash', input: { command: 'cat secret' } } },
      ],
      [
        'tool_activity',
        { text: 'The secret.' },
        { question: 'May the agent use the tool bash?', toolCall: { name: 'bash', input: null } },
      ],
    ])('%s alone off hides its own', async (kind, result, interaction) => {
      await scene.expose(EXPOSABLE.filter((other) => other !== kind));
      expect((await scene.told(await scene.completed())).result).toMatchObject(result);
      expect((await scene.told(await scene.asking('approval'))).pendingInteraction).toMatchObject(interaction);
    });
  });
});
