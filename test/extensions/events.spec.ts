// The types of events that an extension declares: everything that knows the types of the service knows them too.
import { Body, Controller, Module, Post } from '@nestjs/common';
import { IsObject, IsOptional, IsString } from 'class-validator';
import {
  Auth,
  type AuthContext,
  defineExtension,
  Endpoint,
  EventLog,
  type ExtensionEvent,
  Tx,
  type UnitOfWork,
} from 'millwright';
import { z } from 'zod';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { createProject } from '../harness/projects.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { createWebhook, deliveriesOf, HERE, Receiver } from '../harness/webhooks.js';

class NoteDto {
  @IsString() type: string;
  @IsOptional() @IsString() taskId?: string;
  @IsObject() data: Record<string, unknown>;
}

@Controller('v1/notes')
class NotesController {
  constructor(private readonly events: EventLog) {}

  @Post()
  @Endpoint({
    summary: 'Note something',
    policy: 'resource_write',
    scopes: ['notes:write'],
    transaction: true,
    answer: z.strictObject({ noted: z.literal(true) }),
  })
  async note(@Auth() { workspaceId }: AuthContext, @Tx() tx: UnitOfWork, @Body() { type, taskId, data }: NoteDto) {
    await this.events.append(tx, { workspaceId, taskId: taskId ?? null, type, data });
    return { noted: true as const };
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}
@Module({})
class Nothing {}

const NOTES = defineExtension({
  name: 'notes',
  module: NotesModule,
  scopes: ['notes:read', 'notes:write'],
  events: [
    { type: 'notes.made', description: 'A note was made.', webhook: true },
    { type: 'notes.read', description: 'A note was read.' },
  ],
});

interface Events {
  events: { id: string; type: string; seq: null; taskId: string | null; data: object }[];
}

describe('An event type that an extension declares', () => {
  const service = useService(() => bootWorker({ extensions: [NOTES], env: HERE }));
  let receiver: Receiver;
  let owner: Member;
  beforeAll(async () => {
    receiver = await Receiver.listen();
  });
  afterAll(() => receiver.close());
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });

  const note = async (type: string, data: object = {}, taskId?: string, client = owner.client) => {
    const { status } = await client.post('/v1/notes', { type, data, ...(taskId === undefined ? {} : { taskId }) });
    expect(status).toBe(201);
  };
  const read = async (types: string, client = owner.client) => {
    const { status, body, text } = await client.get<Events>(`/v1/events?after=0&types=${types}`);
    expect([status, text]).toEqual([200, expect.any(String)]);
    return body.events;
  };

  it('is sent to the webhook that names it, found by the filter of the deliveries, and no other is', async () => {
    const named = await createWebhook(owner.client, { url: receiver.url('/named'), types: ['notes.made'] });
    const kind = await createWebhook(owner.client, { url: receiver.url('/kind'), types: ['notes.*'] });
    await note('notes.read');
    await note('notes.made', { n: 1 });
    const [received] = await receiver.gets('/named');
    expect(received?.event).toMatchObject({ type: 'notes.made', data: { n: 1, taskId: null, seq: null } });
    await receiver.gets('/kind', 2);
    const types = async (id: string, type: string) =>
      (await deliveriesOf(owner.client, id, `type=${type}`)).map(({ eventType }) => eventType);
    expect(await types(named.webhook.id, 'notes.made')).toEqual(['notes.made']);
    expect(await types(kind.webhook.id, 'notes.read')).toEqual(['notes.read']);
    expect(receiver.at('/named')).toHaveLength(1);
    const recovered = { since: '2026-01-01', types: ['notes.made'] };
    expect((await owner.client.post(`/v1/webhooks/${named.webhook.id}/recover`, recovered)).body).toEqual({ count: 0 });
  });

  it('that is not declared, or not for webhooks, is refused', async () => {
    const { webhook } = await createWebhook(owner.client, { url: receiver.url('/refused'), types: ['notes.made'] });
    const path = `/v1/webhooks/${webhook.id}`;
    for (const types of [['notes.lost'], ['notes.read'], ['task.created', 'note.*']]) {
      for (const answer of [
        await owner.client.post<ErrorBody>('/v1/webhooks', { url: receiver.url('/x'), types }),
        await owner.client.patch<ErrorBody>(path, { types }),
        await owner.client.post<ErrorBody>(`${path}/recover`, { since: '2026-01-01', types }),
      ]) {
        expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
          400,
          'invalid_field',
          'types',
        ]);
        expect(answer.body.error.message).toMatch(
          /^each of types must be one of task\.created, .*notes\.made, task\.\*/,
        );
      }
    }
    const filtered = await owner.client.get<ErrorBody>(`${path}/deliveries?type=notes.lost`);
    expect([filtered.status, filtered.body.error.code, filtered.body.error.param]).toEqual([
      400,
      'invalid_query',
      'type',
    ]);
    const followed = await owner.client.get<ErrorBody>('/v1/events?types=notes.lost');
    expect([followed.status, followed.body.error.param]).toEqual([400, 'types']);
  });

  it('stands in /v1/events for those who see its task, or else what it says', async () => {
    const { workspace } = owner;
    const [ann, bob] = [await makeMember(service, { workspace }), await makeMember(service, { workspace })];
    const task = await createTask(ann.client, { content: 'Something.' });
    const project = await createProject(bob, { name: 'Shared', visibility: 'workspace' });
    await note('notes.made', { n: 'of a task' }, task.id);
    await note('notes.made', { n: 'of a project', projectId: project.id });
    await note('notes.made', { n: 'of Bob', createdBy: bob.user.id });
    await note('notes.read', { n: 'of nobody', projectId: 'no id' });
    const seen = async (client: Member['client']) => (await read('notes.*', client)).map(({ data }) => data);
    // An event can be read when every transaction that began before it is over, those of other databases too.
    await until('all of them to be read', async () => (await seen(owner.client)).length === 4);
    const [ofTask, ofProject] = [{ n: 'of a task' }, { n: 'of a project', projectId: project.id }];
    expect(await seen(ann.client)).toEqual([ofTask, ofProject]);
    expect(await seen(bob.client)).toEqual([ofProject, { n: 'of Bob' }]);
    expect(await read('notes.read')).toMatchObject([{ type: 'notes.read', seq: null, taskId: null }]);
    expect((await read('*')).map(({ type }) => type)).toContain('notes.made');
    const inProject = await owner.client.get<Events>(`/v1/events?after=0&projectId=${project.id}`);
    expect(inProject.body.events.map(({ data }) => data)).toEqual([ofProject]);
    const without = await makeMember(service, { workspace, role: 'admin', scopes: ['tasks:read'] });
    expect(await seen(without.client)).toEqual([]);
    expect((await read('*', without.client)).every(({ type }) => type.startsWith('task.'))).toBe(true);
  });

  it('stands in the document wherever types do, with what it is', async () => {
    const { paths, components } = (await owner.client.get('/openapi.json')).body as unknown as Document;
    const schemas = JSON.parse(JSON.stringify(components.schemas)) as Record<string, { properties: Record<string, { items: object; description: string; enum: string[] }> }>; // prettier-ignore
    const types = schemas['CreateWebhook']?.properties['types'];
    expect(types?.items).toEqual({ type: 'string', enum: expect.arrayContaining(['task.created', 'notes.made', 'notes.*']) }); // prettier-ignore
    expect(JSON.stringify(types)).not.toContain('notes.read');
    expect(types?.description).toContain('`notes.made`: A note was made.');
    expect(schemas['ExtensionEvent']?.properties['type']).toEqual({
      type: 'string',
      enum: ['notes.made', 'notes.read'],
      description: '`notes.made`: A note was made. `notes.read`: A note was read.',
    });
    expect(JSON.stringify(schemas['WorkspaceEvent'])).toContain('ExtensionEvent');
    expect(JSON.stringify(paths['/v1/webhooks/{webhookId}/deliveries'])).toContain('"notes.read"');
  });

  it('is not known without the extension', async () => {
    const without = await bootApp({ db: service.db });
    try {
      await note('notes.made', {});
      const other = new Client(without.url, owner.key.secret);
      expect((await other.get<Events>('/v1/events?after=0')).body.events).toEqual([]);
      expect((await other.get('/v1/events?types=notes.made')).status).toBe(400);
      expect((await other.get('/openapi.json')).text).not.toMatch(/notes\.|ExtensionEvent/);
    } finally {
      await without.close();
    }
  });
});

describe('The boot stops at an event type', () => {
  const set =
    (name: string, ...events: ExtensionEvent[]) =>
    () =>
      new ExtensionSet([NOTES, defineExtension({ name, module: Nothing, events })]);
  const event = (type: string): ExtensionEvent => ({ type, description: 'Something has happened.' });

  it.each([
    ['of ours', 'task', ['task.created'], `the kind of events 'task' is brought by Millwright and by the extension 'task'`],
    ['beside ours', 'automation', ['automation.seen'], `the kind of events 'automation' is brought by Millwright`],
    ['of another', 'b', ['notes.made'], `the extension 'b' brings the event type 'notes.made'; 'b.' and a word`],
    ['that is there twice', 'b', ['b.done', 'b.done'], `the extension 'b' brings the event type 'b.done' twice`],
    ...['b', 'b.', 'b.Done', 'b.done.twice', 'b.*', 'b.do-ne', 'bb.done'].map(
      (type) => [`called '${type}'`, 'b', [type], `the extension 'b' brings the event type '${type}'; 'b.' and a word in snake_case`] as const,
    ),
  ] as const)('%s', (_title, name, types, said) => {
    expect(set(name, ...types.map(event))).toThrow(said);
  }); // prettier-ignore

  it('with a sentence, before anything else', async () => {
    const extensions = [defineExtension({ name: 'b', module: Nothing, events: [event('done')] })];
    await expect(bootApp({ extensions })).rejects.toThrow(`src/extensions.ts: the extension 'b' brings the event type 'done'`);
  }); // prettier-ignore
});
