import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { bootWorker, useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { finished, reaches, type TaskBody } from '../harness/tasks.js';

type Json = Record<string, unknown>;

describe('The examples of the OpenAPI document (reference §2)', () => {
  let member: Member;
  let document: Document;

  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
    document = (await member.client.get<Document & Json>('/openapi.json')).body;
  });

  const schemas = () => document.components['schemas'] as Record<string, { type?: string; examples?: unknown[] }>;
  const example = (name: string) => schemas()[name]?.examples?.[0] as Json;

  it('fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false });
    ajvFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    const given = Object.entries(schemas()).filter(([, schema]) => schema.examples !== undefined);
    expect(given.length).toBeGreaterThanOrEqual(16);
    for (const [name, { examples = [] }] of given) {
      const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
      const wrong = examples.filter((one) => validate?.(one) !== true);
      expect([name, wrong, validate?.errors ?? null]).toEqual([name, [], null]);
    }
  });

  it('exist for every body that a client sends', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const bodies = operations.flatMap(({ requestBody }) => requestBody?.content['application/json'] ?? []);
    // A message of another protocol has no schema of its own.
    const names = bodies.flatMap(({ schema }) => (schema as { $ref?: string }).$ref?.split('/').at(-1) ?? []);
    expect(names.length).toBeGreaterThanOrEqual(6);
    expect(names.filter((name) => schemas()[name]?.examples === undefined)).toEqual([]);
  });

  it('exist for what the agents, skills, commands and pages of reference §27 are answered as', () => {
    const agents = ['Agent', 'AgentVersion', 'AgentFigures', 'AgentStats', 'Evaluation'];
    const names = [...agents, 'Skill', 'SkillVersion', 'TaskCommand', 'Web'];
    expect(names.filter((name) => schemas()[name]?.examples === undefined)).toEqual([]);
  });

  it('work when they are sent: a project, and a task from its creation to its last turn', async () => {
    const { client } = member;
    const status = async <T>(wanted: number, answer: Promise<Answer<T>>): Promise<T> => {
      const { status: got, body, text } = await answer;
      expect([got, text]).toEqual([wanted, expect.any(String)]);
      return body;
    };
    const { project } = await status(201, client.post<{ project: Json }>('/v1/projects', example('CreateProject')));
    expect(Object.keys(project)).toEqual(Object.keys(example('Project')));
    await status(200, client.patch(`/v1/projects/${String(project['id'])}`, example('ChangeProject')));

    const made = client.post<{ automation: Json }>('/v1/automations', example('CreateAutomation'));
    const { automation } = await status(201, made);
    expect(Object.keys(automation).sort()).toEqual(Object.keys(example('Automation')).sort());
    const automationPath = `/v1/automations/${String(automation['id'])}`;
    await status(200, client.patch(automationPath, example('ChangeAutomation')));
    const { run } = await status(202, client.post<{ run: Json }>(`${automationPath}/run`));
    expect(Object.keys(run)).toEqual(Object.keys(example('AutomationRun')));

    const { key } = await status(201, client.post<{ key: Json }>('/v1/keys', example('CreateKey')));
    expect(Object.keys(key)).toEqual(Object.keys(example('Key')));
    await status(201, client.post(`/v1/keys/${String(key['id'])}/rotate`, example('RotateKey')));

    const { task } = await status(201, client.post<{ task: TaskBody }>('/v1/tasks', example('CreateTask')));
    const waiting = await reaches(client, task.id, 'awaiting_input');
    const { pendingInteraction, usage, budget } = example('Task') as unknown as TaskBody & { budget: Json };
    const { type, question, options } = pendingInteraction ?? {};
    expect(waiting).toMatchObject({ pendingInteraction: { type, question, options }, budget });
    expect(Object.keys(waiting)).toEqual(Object.keys(example('Task')));
    expect(waiting.usage['steps']).toBe(usage['steps']);
    const answer = { ...example('Answer'), interactionId: waiting.pendingInteraction?.id };
    await status(202, client.post(`/v1/tasks/${task.id}/interaction`, answer));
    expect(await finished(client, task.id)).toMatchObject({ status: 'completed' });

    const { files } = await status(200, client.get<{ files: Json[] }>(`/v1/tasks/${task.id}/files`));
    const { name, size, sha256, mediaType } = example('File');
    expect(files).toMatchObject([{ name, size, sha256, mediaType }]);
    await status(202, client.post(`/v1/tasks/${task.id}/messages`, example('SendMessage')));
    expect(await finished(client, task.id)).toMatchObject({ status: 'completed' });
    await status(200, client.patch(`/v1/tasks/${task.id}`, example('ChangeTask')));
  });

  it('of errors are in the words of the service', async () => {
    const { client } = member;
    const reader = await makeMember(service, { workspace: member.workspace, scopes: ['tasks:read'] });
    const key = { headers: { 'Idempotency-Key': 'once' } };
    await client.post('/v1/tasks', { content: 'a' }, key);
    const answers = await Promise.all([
      client.post<ErrorBody>('/v1/tasks', { content: ' ' }),
      client.as(null).post<ErrorBody>('/v1/tasks', {}),
      reader.client.post<ErrorBody>('/v1/tasks', { content: 'a' }),
      client.get<ErrorBody>('/v1/tasks/x'),
      client.post<ErrorBody>('/v1/tasks', { content: 'b' }, key),
      client.post<ErrorBody>('/v1/tasks', { content: 'x'.repeat(1_100_000) }),
      client.post<ErrorBody>('/v1/tasks', undefined, { raw: '{}', headers: { 'Content-Type': 'text/plain' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 401, 403, 404, 409, 413, 415]);
    for (const { status, body } of answers) {
      const shown = document.components['responses']?.[`Error${status}`] as unknown as {
        content: Record<string, { example: ErrorBody }>;
      };
      const { error } = shown.content['application/json']?.example ?? body;
      expect({ ...body.error, requestId: '' }).toEqual({ ...error, requestId: '' });
    }
  });
});
