// The transparency policy on what real runs leave behind: all ten kinds, on and off, by the workspace and by the deployment.
import { Readable } from 'node:stream';
import { Module } from '@nestjs/common';
import { AgentTool, defineExtension, newId, Plugin, type ToolOutcome } from 'millwright';
import { z } from 'zod';
import { EXPOSABLE, type Transparency, transparencyWith } from '../../src/platform/config/config-file.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { fold, readEvents } from '../harness/events.js';
import { upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, readMessages, readTask, script } from '../harness/tasks.js';

const nothing = z.strictObject({});

/** Brings what no part of the service makes: an extension may. */
@Plugin(AgentTool, 'evidence')
class EvidenceTool extends AgentTool<typeof nothing> {
  readonly name = 'evidence';
  readonly description = 'Brings sources.';
  readonly parameters = nothing;
  readonly repeatable = true;
  override readonly changes = false;

  execute(): Promise<ToolOutcome> {
    const id = newId();
    const file = { id, name: 'graph.txt', size: 5, content: Readable.from([Buffer.from('graph')]) };
    return Promise.resolve({
      status: 'success',
      output: { found: 2 },
      files: [file],
      parts: [
        { type: 'source_url', sourceId: 's1', url: 'https://a.test/', title: 'A page' },
        { type: 'source_document', sourceId: 's2', mediaType: 'application/pdf', title: 'A paper', name: 'p.pdf' },
        { type: 'reasoning_file', fileId: id, name: 'graph.txt', mediaType: 'text/plain' },
        { type: 'custom', kind: 'evidence.score', data: { score: 3 } },
      ],
    });
  }
}

@Module({ providers: [EvidenceTool] })
class EvidenceModule {}

const EVIDENCE = defineExtension({ name: 'evidence', module: EvidenceModule });

/** The types of parts of each kind (reference §6). */
const TYPES: Record<keyof Transparency, string[]> = {
  text: ['text'],
  reasoning: ['reasoning'],
  tool_activity: ['tool_call', 'tool_result'],
  files: ['file'],
  url_sources: ['source_url'],
  document_sources: ['source_document'],
  reasoning_files: ['reasoning_file'],
  data: ['data'],
  custom: ['custom'],
  step_boundaries: ['step_start'],
};
const DEFAULT = ['text', 'reasoning', 'tool_activity'];

describe('The transparency policy on the history of real runs (reference §6)', () => {
  let db: TestDatabase;
  let model: ModelServer;
  let member: Member;
  /** A task that has made parts of every kind. */
  let taskId: string;

  const service = useService(async () => {
    db = await createDatabase();
    model = await ModelServer.start();
    return bootWorker({ db, env: { OPENAI_COMPATIBLE_URL: model.url }, extensions: [EVIDENCE] });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    const { id: uploadId } = await upload(service, member, 'The words.', { name: 'words.txt' });
    const plan = call('todo', { items: [{ text: 'Look.', status: 'done' }] });
    const first = { reasoning: 'I think.', text: 'I look.', calls: [...(plan.calls ?? []), ...(call('evidence', {}).calls ?? [])] }; // prettier-ignore
    const content = script(first, { text: 'The answer.' });
    ({ id: taskId } = await createTask(member.client, { content: 'Begin.', attachments: [{ uploadId }] }));
    await finished(member.client, taskId);
    await member.client.post(`/v1/tasks/${taskId}/messages`, { content });
    expect(await finished(member.client, taskId)).toMatchObject({ status: 'completed', statusReason: null });
  });
  afterAll(async () => {
    await model.stop();
    await db.drop();
  });

  const expose = (kinds: readonly string[] | null) =>
    service.app.get(WorkspacesService).expose(member.workspace.id, kinds);
  const typesOf = (kinds: readonly string[]) => EXPOSABLE.filter((kind) => kinds.includes(kind)).flatMap((kind) => TYPES[kind]); // prettier-ignore
  /** The types that a client sees; no message is without a part. */
  const seenTypes = async (client = member.client) => {
    const messages = await readMessages(client, taskId);
    for (const { parts } of messages) expect(parts.length).toBeGreaterThan(0);
    return [...new Set(messages.flatMap(({ parts }) => parts.map(({ type }) => type)))].sort();
  };

  it.each(EXPOSABLE)('%s on, and nothing else: its parts are shown at once, messages without one are omitted', async (kind) => {
    await expose([]);
    expect(await readMessages(member.client, taskId)).toEqual([]);
    await expose([kind]);
    expect(await seenTypes()).toEqual(TYPES[kind].toSorted());
  }); // prettier-ignore

  it.each(EXPOSABLE)('%s off, and all else on: its parts are gone at once', async (kind) => {
    const others = EXPOSABLE.filter((other) => other !== kind);
    await expose(EXPOSABLE);
    expect(await seenTypes()).toEqual(typesOf(EXPOSABLE).sort());
    await expose(others);
    expect(await seenTypes()).toEqual(typesOf(others).sort());
  });

  it.each(EXPOSABLE)("%s the other way round in CONFIG_FILE: the workspace's own policy, if it has one, wins", async (kind) => {
    const shown = DEFAULT.includes(kind);
    const kinds = EXPOSABLE.filter((other) => (other === kind ? !shown : DEFAULT.includes(other)));
    const deployment = await bootApp({ db, config: { transparency: { [kind]: !shown } } });
    try {
      const client = new Client(deployment.url, member.key.secret);
      await expose(null);
      expect(await seenTypes(client)).toEqual(typesOf(kinds).sort());
      await expose(DEFAULT);
      expect(await seenTypes(client)).toEqual(typesOf(DEFAULT).sort());
    } finally {
      await deployment.close();
    }
  }); // prettier-ignore

  it.each(EXPOSABLE)('%s alone: what the events tell amounts to the messages of the list', async (kind) => {
    await expose([kind]);
    const events = await readEvents(db, taskId);
    expect(fold(events, transparencyWith([kind]), service.url)).toEqual(await readMessages(member.client, taskId));
  });

  it('events hold no part themselves: they are filled in, and the policy is applied, when they are read', async () => {
    const rows = await db.query<{ data: unknown }>('SELECT data FROM task_events WHERE task_id = $1', [taskId]);
    const stored = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(4);
    for (const word of ['I think', 'I look', 'The answer', 'words.txt', 'a.test', 'A paper', 'graph', 'score', 'Look.']) {
      expect([word, stored.includes(word)]).toEqual([word, false]);
    }
  }); // prettier-ignore

  it('result.text is null without text, in the task, in the list and for a send; fileIds and the list of files stay', async () => {
    await expose(EXPOSABLE);
    const whole = await readTask(member.client, taskId);
    expect(whole.result).toEqual({ text: 'The answer.', fileIds: [expect.any(String)], output: null });
    await expose(EXPOSABLE.filter((kind) => kind !== 'text' && kind !== 'files'));
    const blanked = { ...whole, result: { ...whole.result, text: null } };
    expect(await readTask(member.client, taskId)).toEqual(blanked);
    expect((await member.client.get<{ tasks: object[] }>('/v1/tasks')).body.tasks).toContainEqual(blanked);
    const { files } = (await member.client.get<{ files: { name: string }[] }>(`/v1/tasks/${taskId}/files`)).body;
    expect(files.map(({ name }) => name).sort()).toEqual(['graph.txt', 'words.txt']);
  });

  it('an approval that a run asks for says neither input nor question without tool_activity, and both as soon as it is on', async () => {
    await expose(EXPOSABLE.filter((kind) => kind !== 'tool_activity'));
    const content = script(call('bash', { command: 'cat plans' }), { text: 'Rather not.' });
    const { id } = await createTask(member.client, { content, title: 'Ask.', approvals: 'writes' });
    const hidden = await approvalOf(member.client, id);
    expect(hidden).toMatchObject({ question: 'May the agent use the tool bash?', toolCall: { name: 'bash', input: null } });
    await expose(EXPOSABLE);
    const shown = await approvalOf(member.client, id);
    expect(shown).toMatchObject({ id: hidden.id, toolCall: { name: 'bash', input: { command: 'cat plans' } } });
    expect(shown.question).toContain('cat plans');
    await expose([]);
    const answer = await answerApproval(member.client, id, hidden, { decision: 'deny', reason: 'No.' });
    expect([answer.status, answer.text.includes('cat plans')]).toEqual([202, false]);
    expect((await finished(member.client, id)).result).toEqual({ text: null, fileIds: [], output: null });
    await expose(['tool_activity']);
    const denied = (await readMessages(member.client, id)).flatMap(({ parts }) => parts);
    expect(denied.map(({ type, status }) => [type, status])).toEqual([['tool_call', undefined], ['tool_result', 'denied']]);
  }); // prettier-ignore

  it.each([
    ['question', { question: 'Which colour?' }],
    ['choice', { question: 'Which colour?', options: [{ id: 'red', label: 'Red' }] }],
  ])('a %s that a run asks is shown whatever is off: a person must answer it', async (type, input) => {
    await expose([]);
    const { id } = await createTask(member.client, { content: script(call('ask', input)), title: type });
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    expect(pendingInteraction).toMatchObject({ type, question: 'Which colour?', toolCall: null });
    await member.client.post(`/v1/tasks/${id}/cancel`);
  });
});
