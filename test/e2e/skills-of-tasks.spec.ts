// Which skills a task has, and where its agent finds them (reference §27).
import { randomUUID } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, DAILY, type RunBody } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { pushSkill, SKILLS, skillFile } from '../harness/skills.js';
import { call, createTask, finished, readResults, runTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

type Task = TaskBody & { skills: { name: string; version: number }[] };
const bash = (command: string) => call('bash', { command });
const DONE = { text: 'Done.' };

describe('The skills of a task (reference §27)', () => {
  const folder = new RepositoryFolder();
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config: { repositoryFiles: [folder.path] } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await pushSkill(service, owner, 'notes', 'Old.');
    await pushSkill(service, owner, 'notes', 'How notes are written.', { name: 'scripts/run.sh', content: '#!/bin/sh\necho ran', mode: 0o100755 }); // prettier-ignore
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const makeDefault = async (name: string, { client } = owner) => {
    const { body } = await client.get<{ skills: { id: string; name: string }[] }>(SKILLS);
    const id = body.skills.find((one) => one.name === name)?.id ?? '';
    expect((await client.patch(`${SKILLS}/${id}`, { default: true })).status).toBe(200);
    return id;
  };
  const create = async (json: object = {}, { client } = owner) =>
    (await createTask(client, { content: 'Look around.', ...json })) as Task;
  const refusal = async (json: object) => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const { status, body } = await owner.client.post<ErrorBody>('/v1/tasks', { content: 'x', ...json }, { headers });
    return [status, body.error.code, body.error.param];
  };
  const outputs = async ({ id }: TaskBody) =>
    (await readResults(owner.client, id)).map(
      ({ output }) => (output as { stdout?: string } | undefined)?.stdout ?? output,
    );
  /** What was told in the first request after some others. */
  const told = (after: number) => model.requests[after]?.surroundings ?? '';

  it('are the newest versions of those that it names, or the versions that it names', async () => {
    await pushSkill(service, owner, 'b');
    const task = await create({ skills: ['notes', 'b@1'] });
    expect(task.skills).toEqual([{ name: 'notes', version: 2 }, { name: 'b', version: 1 }]); // prettier-ignore
    expect((await create({ skills: ['notes@1'] })).skills).toEqual([{ name: 'notes', version: 1 }]);
    await pushSkill(service, owner, 'notes', 'Newer.');
    const { body } = await owner.client.get<{ task: Task }>(`/v1/tasks/${task.id}`);
    expect(body.task.skills).toEqual(task.skills);
  });

  it('are those by default when it names none, and none for an empty list', async () => {
    expect((await create()).skills).toEqual([]);
    await makeDefault('notes');
    for (const json of [{}, { skills: null }])
      expect((await create(json)).skills).toEqual([{ name: 'notes', version: 2 }]);
    expect((await create({ skills: [] })).skills).toEqual([]);
    const other = await makeMember(service);
    expect((await create({}, other)).skills).toEqual([]);
  });

  it.each<[unknown, number, string, string]>([
    [['there-is-none'], 404, 'not_found', 'skills[0]'],
    [['notes', 'gone'], 404, 'not_found', 'skills[1]'],
    [['notes@3'], 404, 'not_found', 'skills[0]'],
    [['notes@0'], 400, 'invalid_field', 'skills'],
    [['notes@01'], 400, 'invalid_field', 'skills'],
    [['Notes'], 400, 'invalid_field', 'skills'],
    [['notes', 'notes@1'], 400, 'invalid_field', 'skills'],
    [[1], 400, 'invalid_field', 'skills'],
    ['notes', 400, 'invalid_field', 'skills'],
    [Array.from({ length: 21 }, (_, n) => `s${n}`), 400, 'invalid_field', 'skills'],
  ])('%j is refused with the field', async (skills, ...expected) => {
    expect(await refusal({ skills })).toEqual(expected);
  });

  it('lie at /skills, read-only, seen by every tool, in the version of the task', async () => {
    const before = model.requests.length;
    const work = [
      bash('cd /skills && ls -R . && notes/scripts/run.sh; ls -A /workdir'),
      bash('echo x > /skills/notes/SKILL.md; echo x > /skills/new; rm -f /skills/notes/SKILL.md; rmdir /skills/notes; ls /skills/notes'),
      call('read', { path: '/skills/notes/SKILL.md' }),
      call('glob', { pattern: '**/*.sh', path: '/skills' }),
      call('grep', { pattern: 'description', path: '/skills' }),
      call('write', { path: '/skills/notes/new.txt', content: 'x' }),
    ]; // prettier-ignore
    const task = await runTask(owner.client, script(...work, DONE), { skills: ['notes'] });
    expect(task.status).toBe('completed');
    const results = await readResults(owner.client, task.id);
    expect(results.map(({ status }) => status)).toEqual([
      'success',
      'success',
      'success',
      'success',
      'success',
      'error',
    ]);
    const [listed, changed, read, glob, grep] = await outputs(task);
    expect(listed).toBe('.:\nnotes\n\n./notes:\nSKILL.md\nscripts\n\n./notes/scripts:\nrun.sh\nran\n');
    expect(changed).toBe('SKILL.md\nscripts\n');
    expect(read).toContain('How notes are written.');
    expect(glob).toBe('/skills/notes/scripts/run.sh');
    expect(grep).toContain('/skills/notes/SKILL.md:3:description: How notes are written.');
    expect(told(before)).toContain('<owner_notes file="/skills">\nSkills: instructions of the owner');
    expect(told(before)).toContain('\n- notes: How notes are written.\n</owner_notes>');
  });

  it('nothing is told, and nothing lies there, without any', async () => {
    const before = model.requests.length;
    const task = await runTask(owner.client, script(bash('ls -A /skills | wc -l'), DONE));
    expect(await outputs(task)).toEqual(['0\n']);
    expect(told(before)).not.toContain('kills');
  });

  it('come from the original commit too: what the agent changes there since is data', async () => {
    const source = folder.make('acme', {
      '.agents/skills/review/SKILL.md': skillFile('review', 'How to review.'),
      '.agents/skills/review/run.sh': 'echo original',
      '.claude/skills/review/SKILL.md': skillFile('review', 'Never seen.'),
      '.claude/skills/deploy/SKILL.md': skillFile('deploy', 'How to deploy.'),
      '.claude/skills/notes/SKILL.md': skillFile('notes', 'Of the repository.'),
      '.claude/skills/empty/README.md': 'No skill.',
      '.claude/skills/broken/SKILL.md': 'No front matter.',
      '.gitattributes': '*.md export-subst ident\n',
    });
    symlinkSync('/etc/passwd', join(source, '.agents/skills/review/link'));
    folder.commit(source, 'A link', {});
    const before = model.requests.length;
    const change =
      'cd repo/.agents/skills && echo "echo changed" > review/run.sh && mkdir mine && printf -- "---\\nname: mine\\ndescription: x\\n---\\n" > mine/SKILL.md && ls /skills /skills/review && sh /skills/review/run.sh';
    const task = await runTask(owner.client, script(bash(change), DONE), { repository: { url: `file://${source}` }, skills: ['notes@1'] }); // prettier-ignore
    expect(task.status).toBe('completed');
    expect((await outputs(task))[0]).toBe(
      '/skills:\nbroken\ndeploy\nnotes\nreview\n\n/skills/review:\nSKILL.md\nrun.sh\noriginal\n',
    );
    expect(told(before)).toContain(
      '\n- deploy: How to deploy.\n- notes: Old.\n- review: How to review.\n</owner_notes>',
    );
    // In the next turn too, when repo/ has what the agent made of it.
    const again = script(bash('ls /skills; sh /skills/review/run.sh; cat repo/.agents/skills/review/run.sh'), DONE);
    await owner.client.post(`/v1/tasks/${task.id}/messages`, { content: again }, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
    await until('the second turn', async () => (await outputs(task)).length === 2);
    await finished(owner.client, task.id);
    expect((await outputs(task))[1]).toBe('broken\ndeploy\nnotes\nreview\noriginal\necho changed\n');
  });

  it('and from the files of the project under skills/, of which the last one of a path counts', async () => {
    const { id: projectId } = await createProject(owner);
    const add = (name: string, content: string) => addProjectFile(service, owner, projectId, content, name);
    expect((await add('skills/house/SKILL.md', skillFile('house', 'Old.'))).name).toBe('skills/house/SKILL.md');
    await add('skills/house/SKILL.md', skillFile('house', 'House rules.'));
    await add('skills/house/a/b.txt', 'deep');
    await add('skills/house/a', 'In the place of a folder.');
    await add('skills/notes/SKILL.md', skillFile('notes', 'Of the project.'));
    expect((await add('skills/../x.txt', 'x')).name).toBe('x.txt');
    expect((await add('skills/Bad/x.txt', 'x')).name).toBe('x (2).txt'.replace(' (2)', ''));
    const before = model.requests.length;
    const work = bash('ls -A /project; find /skills -type f | sort; cat /skills/house/a/b.txt');
    const task = await runTask(owner.client, script(work, DONE), { projectId, skills: ['notes'] });
    expect((await outputs(task))[0]).toBe(
      'x (2).txt\nx.txt\n/skills/house/SKILL.md\n/skills/house/a/b.txt\n/skills/notes/SKILL.md\n/skills/notes/scripts/run.sh\ndeep',
    );
    expect(told(before)).toContain('\n- house: House rules.\n- notes: How notes are written.\n');
    expect(told(before)).toContain('Files in /project: "x (2).txt" x.txt\n');
  });

  it('one that was deleted stays in the record of a task, which goes on without it', async () => {
    const id = await makeDefault('notes');
    await pushSkill(service, owner, 'b');
    const task = (await runTask(owner.client, script(bash('ls /skills'), DONE), { skills: ['b', 'notes'] })) as Task;
    expect((await owner.client.delete(`${SKILLS}/${id}`)).status).toBe(200);
    const content = script(bash('ls -A /skills'), DONE);
    await owner.client.post(`/v1/tasks/${task.id}/messages`, { content }, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
    await until('the second turn', async () => (await outputs(task)).length === 2);
    expect(await outputs(task)).toEqual(['b\nnotes\n', 'b\n']);
    const { body } = await owner.client.get<{ task: Task }>(`/v1/tasks/${task.id}`);
    expect(body.task.skills).toEqual([{ name: 'b', version: 1 }, { name: 'notes', version: 2 }]); // prettier-ignore
    expect(await refusal({ skills: ['notes'] })).toEqual([404, 'not_found', 'skills[0]']);
  });

  it('a fork has those of its original', async () => {
    const task = await runTask(owner.client, script(DONE), { skills: ['notes@1'] });
    await makeDefault('notes');
    const { status, body } = await owner.client.post<{ task: Task }>(`/v1/tasks/${task.id}/fork`, {}, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
    expect([status, body.task.skills]).toEqual([201, [{ name: 'notes', version: 1 }]]);
  });

  describe('of an automation', () => {
    const automate = async (json: object) =>
      owner.client.post<{ automation: AutomationBody & { skills: string[] | null } } & ErrorBody>(AUTOMATIONS, { ...DAILY, ...json }); // prettier-ignore
    const fire = async ({ id }: AutomationBody) => {
      const { body } = await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`, {}, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
      if (body.run.taskId === null) return body.run;
      return (await owner.client.get<{ task: Task }>(`/v1/tasks/${body.run.taskId}`)).body.task;
    };

    it('are those that it names, in the version of the time when it fires; without any those by default', async () => {
      const { automation } = (await automate({ skills: ['notes'] })).body;
      expect(automation.skills).toEqual(['notes']);
      await pushSkill(service, owner, 'notes', 'Newer.');
      expect(await fire(automation)).toMatchObject({ skills: [{ name: 'notes', version: 3 }] });
      const changed = await owner.client.patch<{ automation: { skills: null } }>(`${AUTOMATIONS}/${automation.id}`, {
        skills: null,
      });
      expect(changed.body.automation.skills).toBeNull();
      expect(await fire(automation)).toMatchObject({ skills: [] });
      await makeDefault('notes');
      expect(await fire(automation)).toMatchObject({ skills: [{ name: 'notes', version: 3 }] });
    });

    it('are there when it is made, and when it is changed', async () => {
      const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [status, body.error.code, body.error.param]; // prettier-ignore
      expect(refusedBy(await automate({ skills: ['gone'] }))).toEqual([404, 'not_found', 'skills[0]']);
      expect(refusedBy(await automate({ skills: ['notes@9'], dryRun: true }))).toEqual([404, 'not_found', 'skills[0]']);
      expect(refusedBy(await automate({ skills: ['No'] }))).toEqual([400, 'invalid_field', 'skills']);
      const { automation } = (await automate({})).body;
      const { status, body } = await owner.client.patch<ErrorBody>(`${AUTOMATIONS}/${automation.id}`, {
        skills: ['gone'],
      });
      expect([status, body.error.param]).toEqual([404, 'skills[0]']);
    });
  });
});
