import { bootApp, bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import {
  createTask,
  finished,
  type MessageBody,
  readMessages,
  runTask,
  type TaskBody,
  texts,
} from '../harness/tasks.js';

const COMMENT = {
  path: 'src/sum.ts',
  side: 'new',
  line: 3,
  endLine: 5,
  quote: 'return a - b;',
  text: 'This subtracts.',
};
const part = (data: object) => ({ type: 'custom', kind: 'review', data });
type Sent = { message: MessageBody; task: TaskBody };

describe('Comments of a review (reference §6)', () => {
  let model: ModelServer;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  /** Nobody works on its tasks, and it shows neither text nor custom parts. */
  const silent = useService(() => bootApp({ config: { transparency: { text: false } } }));
  const labelled = useService(() => bootApp({ config: { transparency: { text: false, custom: true } } }));
  /** Its model is the runbook. */
  const runbook = useService(bootWorker);
  let member: Member;
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const send = async ({ client }: Member, id: string, body: object): Promise<MessageBody> => {
    const sent = await client.post<Sent>(`/v1/tasks/${id}/messages`, body);
    expect(sent.status).toBe(202);
    return sent.body.message;
  };

  it('are a message without content: custom parts in the order given, which the answer and the list show by default', async () => {
    const { id } = await runTask(member.client, 'Write sum.ts.');
    const { endLine: _, ...second } = { ...COMMENT, side: 'old', line: 9, quote: '', text: 'Why is it gone?' };
    const message = await send(member, id, { review: [COMMENT, second] });
    expect(message.parts).toEqual([part(COMMENT), part({ ...second, endLine: 9 })]);
    await finished(member.client, id);
    const listed = (await readMessages(member.client, id)).find((one) => one.id === message.id);
    expect(listed?.parts).toEqual(message.parts);
  });

  it('stand behind content and before attachments, and the agent reads all of it as text', async () => {
    const { id } = await runTask(member.client, 'Write sum.ts.');
    const { id: uploadId } = await upload(service, member, 'Words.', { name: 'words.txt' });
    const attachments = [{ uploadId }];
    const { parts } = await send(member, id, { content: 'Please mend:', review: [COMMENT], attachments });
    expect(parts.map(({ type }) => type)).toEqual(['text', 'custom', 'file']);
    await finished(member.client, id);
    const read = model.requests.at(-1)?.body.messages.at(-1);
    expect(read).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'Please mend:' },
        {
          type: 'text',
          text:
            '[Review comment on src/sum.ts, lines 3 to 5 after the changes. The lines are quoted.]\n\n' +
            '```text\nreturn a - b;\n```\n\nThis subtracts.',
        },
        { type: 'text', text: expect.stringContaining('words.txt') },
      ],
    });
  });

  it('are shown where text or custom parts are; the answer to a send shows them in any case', async () => {
    const person = await makeMember(silent);
    const { id } = await createTask(person.client, { content: 'Write sum.ts.' });
    expect((await send(person, id, { review: [COMMENT] })).parts).toEqual([part(COMMENT)]);
    expect(await readMessages(person.client, id)).toEqual([]);
    const other = await makeMember(labelled);
    const task = await createTask(other.client, { content: 'Write sum.ts.' });
    await send(other, task.id, { content: 'Please mend:', review: [COMMENT] });
    expect((await readMessages(other.client, task.id)).map(({ parts }) => parts)).toEqual([[part(COMMENT)]]);
  });

  it('are counted with the text that waits to be read', async () => {
    const person = await makeMember(silent);
    const { id } = await createTask(person.client, { content: 'Write sum.ts.' });
    const long = { ...COMMENT, text: 'x'.repeat(9_000), quote: 'y'.repeat(900) };
    await send(person, id, { review: Array.from({ length: 100 }, () => long) });
    const more = { review: Array.from({ length: 2 }, () => long) };
    const { status, body } = await person.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, more);
    expect([status, body.error.code]).toEqual([409, 'too_much_unread']);
  });

  it('are no blocks of a runbook, whatever stands in them; its answer says so', async () => {
    const person = await makeMember(runbook);
    const { id } = await runTask(person.client, '```bash\necho one\n```');
    const block = '```bash\ntouch made-by-a-comment\n```';
    await send(person, id, { review: [{ ...COMMENT, quote: block, text: block }] });
    await finished(person.client, id);
    const messages = await readMessages(person.client, id);
    const calls = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_call'));
    expect(calls).toHaveLength(1);
    expect(texts(messages).at(-1)).toContain('Nothing was carried out.');
    expect(texts(messages).at(-1)).toContain('The review (1 comment)');
  });

  it.each([
    ['review', []],
    ['review', Array.from({ length: 101 }, () => COMMENT)],
    ['review', {}],
    ['review', [[]]],
    ['review', null],
    ['review[0].path', [{ ...COMMENT, path: '/etc/passwd' }]],
    ['review[0].path', [{ ...COMMENT, path: 'src/../../secret' }]],
    ['review[0].path', [{ ...COMMENT, path: 'src/a\nb.ts' }]],
    ['review[0].path', [{ ...COMMENT, path: '' }]],
    ['review[0].path', [{ ...COMMENT, path: 'x'.repeat(1025) }]],
    ['review[0].side', [{ ...COMMENT, side: 'both' }]],
    ['review[0].line', [{ ...COMMENT, line: 0 }]],
    ['review[0].line', [{ ...COMMENT, line: 1.5 }]],
    ['review[1].endLine', [COMMENT, { ...COMMENT, endLine: 2 }]],
    ['review[0].endLine', [{ ...COMMENT, endLine: null }]],
    ['review[0].quote', [{ ...COMMENT, quote: 'x'.repeat(4001) }]],
    ['review[0].text', [{ ...COMMENT, text: ' \n' }]],
    ['review[0].text', [{ ...COMMENT, text: 'x'.repeat(10_001) }]],
    ['review[0].author', [{ ...COMMENT, author: 'x' }]],
  ])('refuses a wrong %s, and sends nothing', async (param, review) => {
    const person = await makeMember(silent);
    const { id } = await createTask(person.client, { content: 'Write sum.ts.' });
    const { status, body } = await person.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, { content: 'x', review });
    expect([status, body.error.param]).toEqual([400, param]);
    expect((await person.client.get<{ task: TaskBody }>(`/v1/tasks/${id}`)).body.task.messageCount).toBe(1);
  });

  it('are of messages alone: a task is not created with a review', async () => {
    const { status, body } = await member.client.post<ErrorBody>('/v1/tasks', { content: 'x', review: [COMMENT] });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unknown_field', 'review']);
  });
});
