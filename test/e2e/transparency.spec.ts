import { v7 as uuid } from 'uuid';
import { EXPOSABLE, type Transparency } from '../../src/platform/config/config-file.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, type MessageBody } from '../harness/tasks.js';

/** Each kind with what is stored of it and what is seen: exactly the fields of the table in reference §6. */
const KINDS: Record<keyof Transparency, { stored: object; seen: object[] }> = {
  text: {
    stored: { type: 'text', text: 'Words.', providerMetadata: { p: { s: 1 } } },
    seen: [{ type: 'text', text: 'Words.' }],
  },
  reasoning: {
    stored: { type: 'reasoning', text: 'Hm.', providerMetadata: { p: { s: 1 } } },
    seen: [{ type: 'reasoning', text: 'Hm.' }],
  },
  tool_activity: {
    stored: { type: 'tool', toolCallId: 'call_1' },
    seen: [
      { type: 'tool_call', toolCallId: 'call_1', name: 'bash', input: { command: 'true' } },
      { type: 'tool_result', toolCallId: 'call_1', name: 'bash', status: 'success', output: { exitCode: 0 } },
    ],
  },
  files: {
    stored: {
      type: 'file',
      fileId: '01a1fdc8-9de6-70d0-a884-574b696941e1',
      name: 'a.txt',
      mediaType: 'text/plain',
      path: 'attachments/a.txt',
    },
    seen: [
      {
        type: 'file',
        id: '01a1fdc8-9de6-70d0-a884-574b696941e1',
        name: 'a.txt',
        mediaType: 'text/plain',
        downloadUrl: expect.stringMatching(/\/v1\/files\/01a1fdc8-9de6-70d0-a884-574b696941e1\/content$/),
      },
    ],
  },
  url_sources: {
    stored: { type: 'source_url', sourceId: 's1', url: 'https://a.test/', title: 'A' },
    seen: [{ type: 'source_url', sourceId: 's1', url: 'https://a.test/', title: 'A' }],
  },
  document_sources: {
    stored: { type: 'source_document', sourceId: 's2', mediaType: 'application/pdf', title: 'B', name: 'b.pdf' },
    seen: [{ type: 'source_document', sourceId: 's2', mediaType: 'application/pdf', title: 'B', name: 'b.pdf' }],
  },
  reasoning_files: {
    stored: {
      type: 'reasoning_file',
      fileId: '01a1fdc8-9de6-70d0-a884-574b696941e2',
      name: 'c.png',
      mediaType: 'image/png',
    },
    seen: [
      {
        type: 'reasoning_file',
        id: '01a1fdc8-9de6-70d0-a884-574b696941e2',
        name: 'c.png',
        mediaType: 'image/png',
        downloadUrl: expect.stringMatching(/\/v1\/files\/01a1fdc8-9de6-70d0-a884-574b696941e2\/content$/),
      },
    ],
  },
  data: {
    stored: { type: 'data', name: 'plan', id: 'd1', data: [1] },
    seen: [{ type: 'data', name: 'plan', id: 'd1', data: [1] }],
  },
  custom: {
    stored: { type: 'custom', kind: 'x.y', data: { a: 1 } },
    seen: [{ type: 'custom', kind: 'x.y', data: { a: 1 } }],
  },
  step_boundaries: { stored: { type: 'step_start' }, seen: [{ type: 'step_start' }] },
};
const DEFAULT = ['text', 'reasoning', 'tool_activity'];

describe('The transparency policy (reference §6)', () => {
  let member: Member;
  let taskId: string;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    ({ id: taskId } = await createTask(member.client, { content: 'History.' }));
    // One message for each kind, and a last one of all: what no engine makes yet is stored like the rest.
    const messages = [...EXPOSABLE.map((kind) => [KINDS[kind].stored]), EXPOSABLE.map((kind) => KINDS[kind].stored)];
    for (const [index, parts] of messages.entries()) {
      const id = uuid();
      await service.db.query(
        `INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
         VALUES ($1, $2, $3, $3, 1, 'assistant', 'complete', $4)`,
        [id, taskId, index + 2, JSON.stringify(parts)],
      );
      await service.db.query(
        `INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state, output)
         VALUES ($1, 0, 'call_1', 'bash', '{"command": "true"}', 'success', '{"exitCode": 0}')`,
        [id],
      );
    }
    await service.db.query('UPDATE tasks SET last_seq = $2 WHERE id = $1', [taskId, messages.length + 1]);
  });

  const expose = (kinds: readonly string[] | null, { workspace } = member) =>
    service.app.get(WorkspacesService).expose(workspace.id, kinds);
  const page = async (query = '') => {
    const answer = await member.client.get<{ messages: MessageBody[]; nextCursor: string | null }>(
      `/v1/tasks/${taskId}/messages${query}`,
    );
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const seenWith = (kinds: readonly string[]) =>
    EXPOSABLE.filter((kind) => kinds.includes(kind)).flatMap((kind) => KINDS[kind].seen);

  it('is the deployment’s where the workspace has none', async () => {
    await expose(null);
    expect((await page()).messages.at(-1)?.parts).toEqual(seenWith(DEFAULT));
  });

  it.each(EXPOSABLE)('%s alone: its parts and no others, on history too; what has none is omitted', async (kind) => {
    await expose([kind]);
    const { messages } = await page();
    const own = kind === 'text' ? [[{ type: 'text', text: 'History.' }]] : [];
    expect(messages.map(({ parts }) => parts)).toEqual([...own, KINDS[kind].seen, KINDS[kind].seen]);
  });

  it.each(EXPOSABLE)('all but %s: every part but its own', async (kind) => {
    const kinds = EXPOSABLE.filter((other) => other !== kind);
    await expose(kinds);
    const { messages } = await page();
    expect(messages).toHaveLength(kind === 'text' ? 10 : 11);
    expect(messages.at(-1)?.parts).toEqual(seenWith(kinds));
  });

  it('a page may hold fewer than limit, none even: nextCursor alone says where it ends', async () => {
    await expose(['custom']);
    const sizes: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { messages, nextCursor }: Awaited<ReturnType<typeof page>> = await page(
        `?limit=3${cursor && `&cursor=${cursor}`}`,
      );
      sizes.push(messages.length);
      cursor = nextCursor;
    }
    expect(sizes).toEqual([0, 0, 0, 2]);
  });

  it('an empty list exposes nothing; the 202 of a send shows the message as sent all the same', async () => {
    await expose([]);
    expect((await page()).messages).toEqual([]);
    const sent = await member.client.post<{ message: MessageBody }>(`/v1/tasks/${taskId}/messages`, {
      content: 'Hello.',
    });
    expect(sent.body.message.parts).toEqual([{ type: 'text', text: 'Hello.' }]);
    expect((await page()).messages).toEqual([]);
    await service.db.query('DELETE FROM messages WHERE id = $1', [(sent.body.message as { id: string }).id]);
  });

  it('of one workspace says nothing about another, and nobody sees it', async () => {
    await expose(['step_boundaries'], await makeMember(service));
    await expose(null);
    expect((await page()).messages.at(-1)?.parts).toEqual(seenWith(DEFAULT));
    const { body } = await member.client.get<{ workspace: object }>('/v1/auth/context');
    expect(Object.keys(body.workspace)).toEqual(['id', 'name', 'slug', 'role']);
  });
});
