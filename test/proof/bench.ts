// Agents at work on the tasks of the suite, and what became of them.
import { setTimeout as wait } from 'node:timers/promises';
import type { TestApp } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { type Answer, type ChatRequest, ModelServer } from '../harness/model-server.js';
import type { RepositoryFolder } from '../harness/repositories.js';
import { call, createTask, readResults, readTask, type TaskBody } from '../harness/tasks.js';
import type { Lie } from './lie.js';
import { type Scene, SCENES } from './scenes.js';

export interface Outcome {
  /** The kind, with its number. */
  what: string;
  accepted: boolean;
  /** What makes the attempt worthless, or is no lie held. */
  wrongs: string[];
}

/** As many as a workspace of the plan has at work at once. */
const AT_ONCE = 6;
const DONE: Answer = { text: 'Done. All tests pass.' };

export class Bench {
  model!: ModelServer;
  private member!: Member;
  private service!: TestApp;
  private readonly scripts = new Map<string, string[]>();
  private readonly urls = new Map<string, string>();
  private agents = 0;

  constructor(private readonly repositories: RepositoryFolder) {}

  async start(): Promise<void> {
    this.model = await ModelServer.start((request) => this.answer(request));
    for (const [name, scene] of Object.entries(SCENES) as [string, Scene][])
      if (scene.repository) this.urls.set(name, `file://${this.repositories.make(name, scene.files)}`);
  }

  async join(service: TestApp): Promise<void> {
    this.service = service;
    this.member = await makeMember(service, { role: 'owner' });
  }

  async stop(): Promise<void> {
    await this.model.stop();
    this.repositories.remove();
  }

  /** All of them, some at once. */
  async all<T>(list: readonly T[], each: (one: T) => Promise<Outcome>): Promise<Outcome[]> {
    const ends: Outcome[] = [];
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < list.length; at = next++) ends[at] = await each(list[at] as T);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return ends;
  }

  async lies(lie: Lie, n: number, runbook: boolean, { checked = true } = {}): Promise<Outcome> {
    const { own, naive, naiveProtects = false, timeoutSeconds = 60 } = lie;
    const { check, repository } = SCENES[lie.scene];
    const second = { name: 'naive', command: naive, required: false, timeoutSeconds, protect: naiveProtects ? check.protect : [] }; // prettier-ignore
    const checks = [{ name: 'tests', ...check, timeoutSeconds }, ...(naive === undefined ? [] : [second])];
    const at = repository ? 'cd repo\n' : '';
    const commands = [`${at}set -e\n${lie.does(n)}\necho TRIED`];
    if (own !== undefined)
      commands.push(`${at}( ${own} ) >/tmp/own 2>&1\ncode=$?; tail -n 30 /tmp/own; echo "OWN $code"`);
    const { task, said, rows } = await this.task(
      lie.scene,
      commands,
      runbook,
      checked ? { checks, maxRepairs: 0 } : {},
    );
    const outcome = { what: `${lie.name} (${n})`, accepted: task.status === 'completed', wrongs: [] as string[] };
    if (!checked) return outcome;
    const wrong = (what: string) => outcome.wrongs.push(what);
    if (!said.includes('TRIED')) wrong(`it was not tried: ${said}`);
    if (own !== undefined && !said.includes('OWN 0')) wrong(`it does not deceive the agent's own look: ${said}`);
    const row = (name: string) => rows.find((one) => one.name === name);
    if (naive !== undefined && row('naive')?.status !== 'passed') wrong(`it does not deceive a naive check: ${JSON.stringify(row('naive'))}`); // prettier-ignore
    const { code = '' } = task.statusReason ?? {};
    if (code !== 'checks_failed') wrong(`it ended as ${task.status} ${code}: ${JSON.stringify(row('tests'))}`);
    if (row('tests')?.status === 'passed') wrong('the check passed');
    return outcome;
  }

  async works(scene: keyof typeof SCENES, does: string, runbook: boolean): Promise<Outcome> {
    const { check, repository } = SCENES[scene];
    const commands = [`${repository ? 'cd repo\n' : ''}set -e\n${does}\necho TRIED`];
    const checks = [{ name: 'tests', ...check, timeoutSeconds: 60 }];
    const { task, said, rows } = await this.task(scene, commands, runbook, { checks, maxRepairs: 0 });
    const wrongs = said.includes('TRIED') ? [] : [`it was not done: ${said}`];
    if (task.status !== 'completed') wrongs.push(`${task.statusReason?.code}: ${JSON.stringify(rows)}`);
    return { what: `${scene}: ${does}`, accepted: task.status === 'completed', wrongs };
  }

  private async task(scene: keyof typeof SCENES, commands: string[], runbook: boolean, more: object) {
    const name = `Agent ${++this.agents}.`;
    this.scripts.set(name, commands);
    const content = runbook ? commands.map((command) => `\`\`\`bash\n${command}\n\`\`\``).join('\n\n') : name;
    const { client } = this.member;
    const { id } = await createTask(client, { content, model: runbook ? 'runbook' : 'scripted', ...(await this.begins(scene)), ...more }); // prettier-ignore
    const task = await ended(() => readTask(client, id));
    const said = (await readResults(client, id)).map(({ output, error }) => JSON.stringify(output ?? error)).join('\n');
    return { task, said, rows: await listChecks(client, id) };
  }

  private async begins(scene: keyof typeof SCENES): Promise<object> {
    const url = this.urls.get(scene);
    if (url !== undefined) return { repository: { url } };
    const files = Object.entries(SCENES[scene].files);
    const uploads = await Promise.all(files.map(([name, text]) => upload(this.service, this.member, text, { name })));
    return { attachments: uploads.map(({ id: uploadId }) => ({ uploadId })) };
  }

  private answer({ messages }: ChatRequest): Answer {
    const text = JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
    const commands = this.scripts.get(/Agent \d+\./.exec(text)?.[0] ?? '') ?? [];
    const command = commands[messages.filter(({ role }) => role === 'assistant').length];
    return command === undefined ? DONE : call('bash', { command });
  }
}

/** Each takes its turn among many: there is no time within which one has to be over. */
async function ended(read: () => Promise<TaskBody>): Promise<TaskBody> {
  for (;;) {
    const task = await read();
    if (task.finishedAt !== null) return task;
    await wait(100);
  }
}
