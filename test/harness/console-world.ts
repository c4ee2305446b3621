// A workspace in which every page of the console has something to show.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bootWorker, type TestApp } from './app.js';
import { connectIntegration, createAutomation, DAILY } from './automation-requests.js';
import { allow, recordStep } from './billing.js';
import { type Client, makeMember, type Member } from './client.js';
import { upload } from './files.js';
import { addProjectFile, createProject } from './projects.js';
import { createSecret } from './secrets.js';
import { createTask, finished, reaches } from './tasks.js';
import { HERE, Receiver } from './webhooks.js';

const DAY_MS = 86_400_000;

/** A service for it. Close both. */
export const bootWorld = (): Promise<TestApp> =>
  bootWorker({ env: HERE, config: { sandbox: { network: 'allow', allowHosts: ['api.github.com'] } } });

/** Longer than any screen. */
const LONG_COMMAND = Array.from({ length: 60 }, (_, n) => `echo "part ${n + 1} of 60"`).join('\n');

const fenced = (name: string, text: string): string => `\`\`\`${name}\n${text}\n\`\`\`\n`;

export interface World {
  owner: Member;
  projectId: string;
  automationId: string;
  webhookId: string;
  /** Tasks by what they are. */
  tasks: Record<'done' | 'asks' | 'approval' | 'failed', string>;
  close(): Promise<void>;
}

export async function makeWorld(service: TestApp): Promise<World> {
  const owner = await makeMember(service, { role: 'owner' });
  const { client, workspace, user } = owner;
  // People read it in pictures.
  await service.db.query(`UPDATE workspaces SET name = 'Mill', slug = 'mill' WHERE id = $1`, [workspace.id]);
  await service.db.query(`UPDATE users SET name = 'Owner' WHERE id = $1`, [user.id]);
  const projectId = await projects(service, owner);
  const tasks = await makeTasks(service, owner, projectId);
  const automationId = await automations(service, owner, projectId);
  await secrets(service, owner, { projectId, taskId: tasks.done });
  await used(service, owner, projectId, automationId);
  await client.post('/v1/keys', {
    name: 'Nightly report',
    scopes: ['tasks:read', 'billing:read'],
    expiresAt: later(30),
  });
  await client.post('/v1/service-accounts', { name: 'ci' });
  const receiver = await Receiver.listen();
  try {
    const webhookId = await webhooks(client, receiver);
    return { owner, projectId, automationId, webhookId, tasks, close: () => receiver.close() };
  } catch (error) {
    // An open server would keep the test run from ending.
    await receiver.close();
    throw error;
  }
}

const later = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

async function projects(service: TestApp, owner: Member): Promise<string> {
  const described = {
    description: 'Splits a bill among people, to the cent.',
    visibility: 'workspace',
    tags: ['money'],
  };
  const { id } = await createProject(owner, { name: 'Split bill', ...described });
  await addProjectFile(service, owner, id, 'Cents are whole numbers.\n', 'conventions.md');
  await createProject(owner, { name: 'Web shop', visibility: 'workspace', tags: ['shop', 'front-end'] });
  const old = await createProject(owner, { name: 'Old mill' });
  await addProjectFile(service, owner, old.id, 'left over\n', 'left-over.txt');
  await owner.client.delete(`/v1/projects/${old.id}`);
  return id;
}

async function makeTasks(service: TestApp, owner: Member, projectId: string): Promise<World['tasks']> {
  const { client } = owner;
  const archive = execFileSync('tar', ['-cz', '-C', 'examples', 'split-bill']);
  const { id: uploadId } = await upload(service, owner, Uint8Array.from(archive), { name: 'split-bill.tar.gz' });
  const content = readFileSync('examples/fix-failing-test.md', 'utf8');
  const done = await createTask(client, { content, attachments: [{ uploadId }], projectId });
  await client.patch(`/v1/tasks/${done.id}`, { tags: ['tests'] });
  await answer(client, done.id, { optionIds: ['largest-remainder'] });
  const failed = await createTask(client, {
    title: 'Check the migrations',
    content: fenced('bash', `printf '\\033[32mok\\033[0m 1\\n\\033[31mnot ok\\033[0m 2\\n'; exit 3`),
    projectId,
  });
  const asks = await createTask(client, {
    title: 'Rename the field “mail” everywhere',
    content: fenced('ask', 'What is it called from now on?\n\n- email: email\n- address: address'),
  });
  const approval = await createTask(client, {
    title: 'Remove the old builds',
    content: fenced('bash', LONG_COMMAND),
    approvals: 'writes',
  });
  await Promise.all([
    finished(client, done.id),
    finished(client, failed.id),
    reaches(client, asks.id, 'awaiting_input'),
    reaches(client, approval.id, 'awaiting_input'),
  ]);
  return { done: done.id, failed: failed.id, asks: asks.id, approval: approval.id };
}

async function answer(client: Client, id: string, body: object): Promise<void> {
  const { pendingInteraction } = await reaches(client, id, 'awaiting_input');
  await client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, ...body });
}

async function automations(service: TestApp, owner: Member, projectId: string): Promise<string> {
  const { client, workspace } = owner;
  await connectIntegration(service, workspace.id);
  const { id } = await createAutomation(owner, { ...DAILY, name: 'Sweep the mill', projectId, content: 'Sweep.' });
  const event = { cron: undefined, triggerEvent: 'github.pull_request.opened' };
  await createAutomation(owner, { ...event, name: 'Look at new issues', content: 'Look.' });
  const ran = await client.post<{ run: { taskId: string } }>(`/v1/automations/${id}/run`);
  await finished(client, ran.body.run.taskId);
  return id;
}

async function webhooks(client: Client, receiver: Receiver): Promise<string> {
  const types = ['task.completed', 'task.failed'];
  const made = await client.post<{ webhook: { id: string } }>('/v1/webhooks', { url: receiver.url('/events'), types });
  const { id } = made.body.webhook;
  await client.post(`/v1/webhooks/${id}/test`);
  await receiver.gets('/events');
  return id;
}

async function secrets(service: TestApp, { client }: Member, of: { projectId: string; taskId: string }): Promise<void> {
  const { id } = await createSecret(client, { name: 'GITHUB_TOKEN', description: 'Of the bot: reads and pushes.' });
  await createSecret(client, { name: 'NPM_TOKEN', scope: 'project', projectId: of.projectId, env: 'NODE_AUTH_TOKEN' });
  await createSecret(client, { name: 'MY_TOKEN', scope: 'user' });
  await service.db.query(
    `INSERT INTO secret_uses (task_id, secret_id, host, name, requests, refused, masked, first_at, last_at)
     VALUES ($1, $2, 'api.github.com', 'GITHUB_TOKEN', 12, 1, 2, now(), now())`,
    [of.taskId, id],
  );
}

/** Four weeks of use, with weekends. */
async function used(service: TestApp, owner: Member, projectId: string, automationId: string): Promise<void> {
  for (let day = 1; day <= 28; day += 1) {
    const at = new Date(Date.now() - day * DAY_MS);
    if ([0, 6].includes(at.getUTCDay())) continue;
    for (let n = 0; n < 3 + (day % 4); n += 1) {
      const input = 40_000 + ((day * 7919 + n * 104_729) % 60_000);
      const cached = Math.round(input * 0.6);
      const step = { at, input, cached, output: Math.round(input / 12), costMicros: input * 2, model: 'runbook' };
      await recordStep(service, owner, {
        ...step,
        projectId: n % 2 === 0 ? projectId : null,
        automationId: n % 3 === 0 ? automationId : null,
      });
    }
  }
  const windows = [
    { window: 'day', unit: 'tokens', allowance: 1_000_000 },
    { window: 'month', unit: 'cost', allowance: 20 },
  ] as const;
  await allow(service, owner, [...windows], 12_500_000);
}
