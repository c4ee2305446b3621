// Has our own service make the repairs, over HTTP: the built program on its embedded PostgreSQL and real sandbox, or one that runs already.
import { File } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Millwright as Client } from '@millwright/sdk';
import { Service } from '../scripts/demo-service.mjs';
import { tarGz } from '../scripts/tar.mjs';
import { readTree, writeTree } from './checks.mjs';
import { companions } from './repairs.mjs';

const POLL_MS = 50;
/** One that others use, and that has limits of requests. */
const POLL_OTHERS_MS = 2_000;
const FINAL = ['completed', 'failed', 'cancelled'];
/** A real model takes its time; the player needs seconds. */
const BUDGET = { maxSteps: 80, maxDurationSeconds: 900 };
// More than is ever sent: no request waits for a limit.
const MUCH = { capacity: 1_000_000, windowSeconds: 1 };
const POLICIES = ['metadata_read', 'resource_read', 'resource_write', 'task_execution', 'file_upload'];
const PLAN = { global: MUCH, policies: Object.fromEntries(POLICIES.map((name) => [name, MUCH])) };
/** What the operator's own environment may say only where the operator's own models are asked. */
const OWN = ['DATABASE_URL', 'REDIS_URL', 'CONFIG_FILE', 'SANDBOX', 'ROLE', 'PUBLIC_URL', 'TRUST_PROXY', 'HOST'];

export class Millwright {
  #undo = [];
  #over = new AbortController();
  #every = POLL_MS;

  /** A service that runs already. What is made there stays. */
  static connect(url, key) {
    const connected = new Millwright();
    connected.#makeFolder();
    connected.#use(url, key);
    connected.#every = POLL_OTHERS_MS;
    return connected;
  }

  /** `models`: a configuration that takes the place of the operator's, with more of `config` and `env`; without it the operator's models are asked. */
  static async start({ models, config = {}, env = {} }) {
    const started = new Millwright();
    try {
      await started.#start(models, config, env);
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  #makeFolder() {
    this.folder = mkdtempSync(join(tmpdir(), 'millwright-eval-'));
    this.#undo.push(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  #use(baseUrl, apiKey) {
    this.client = new Client({ baseUrl, apiKey });
  }

  async #start(models, more, env) {
    this.#makeFolder();
    // Under root the database and the sandbox are other users, who have to pass.
    chmodSync(this.folder, 0o711);
    const dataDir = join(this.folder, 'data');
    const { removeReachable } = await import('../dist/platform/config/reachable.js');
    this.#undo.push(() => removeReachable(dataDir));
    const given =
      models === undefined && process.env.CONFIG_FILE ? readFileSync(process.env.CONFIG_FILE, 'utf8') : '{}';
    const config = { ...JSON.parse(given), rateLimits: { free: PLAN, paid: PLAN }, ...(models && { ...more, models }) };
    const configFile = join(this.folder, 'config.json');
    writeFileSync(configFile, JSON.stringify(config), { mode: 0o600 });
    const service = new Service(join(this.folder, 'service.log'));
    this.#undo.push(() => service.stop());
    // An empty variable counts as none.
    const none = Object.fromEntries(OWN.map((name) => [name, '']));
    const own = { NODE_ENV: 'production', DATA_DIR: dataDir, CONFIG_FILE: configFile, PORT: '0' };
    await service.start({ ...none, ...own, ...env }, () => undefined);
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await service.cli('key', 'create', ...who, '--name', 'eval');
    this.#use(service.url, key.secret);
    void service.exited.then((reason) =>
      this.#over.abort(new Error(`The service ended: ${reason}.\n${service.tail()}`)),
    );
  }

  async stop() {
    for (const undo of this.#undo.splice(0).reverse()) await undo();
  }

  /** Where the agent finds the files of a repair, and how it hands them over. */
  place({ name, handed, compiler }) {
    if (handed === 'files') {
      const handOver = (paths) => paths.map((path) => ['publish', `attachments/${path}`]);
      return { root: '/workdir', folder: 'attachments', unpack: null, handOver };
    }
    const archive = `${handed === 'project' ? '/project' : 'attachments'}/${name}.tar.gz`;
    const left = compiler ? `--exclude=node_modules --exclude=build ` : '';
    const handOver = () => [
      ['bash', `tar ${left}-czf ${name}.tar.gz ${name}`],
      ['publish', `${name}.tar.gz`],
    ];
    return { root: '/workdir', folder: name, unpack: `tar --no-same-owner -xzf ${archive}`, handOver };
  }

  /** Makes an agent of a definition. Resolves with what tasks name it by. */
  async makeAgent(definition) {
    const { slug, version } = await this.client.agents.create(definition, this.#options);
    return `${slug}@${version}`;
  }

  /** The version of an agent that this names, `slug@3`, so that all repairs have the same one. Its own limits hold; without any it has ours. */
  async findAgent(name) {
    const [slug, which] = name.split('@');
    const agent = await this.client.agents.get(slug, this.#options);
    const version = which === undefined ? agent.version : (agent.channels[which] ?? Number(which));
    if (!Number.isInteger(version)) throw new Error(`The agent ${slug} has no channel ${which}.`);
    const { budget } = await this.client.agents.version(slug, version, this.#options);
    return { agent: `${slug}@${version}`, budget: budget === null ? BUDGET : null };
  }

  /**
   * Carries out one repair, with a model or by an agent. Resolves with the files that it left, the task's own figures, and why it ended.
   * @param {{model?: string, agent?: string, budget?: object | null}} by `budget` null: there is none but the agent's.
   */
  async make(repair, { budget = BUDGET, ...by }) {
    const handed = await this.#handOver(repair);
    const about = { title: 'A repair', tags: ['eval'], metadata: { repair: repair.name } };
    const body = { ...about, content: wording(repair), ...by, ...(budget && { budget }), ...handed };
    const began = performance.now();
    const task = await this.client.tasks.create(body, this.#options);
    const ended = await this.#end(task.id);
    const wallMs = performance.now() - began;
    const files = await this.#results(repair, ended);
    return { files, wallMs, status: ended.statusReason?.code ?? ended.status, usage: ended.usage };
  }

  get #options() {
    return { signal: this.#over.signal };
  }

  /** As a user does: single files as they are, a folder as an archive, of a project once for all its tasks. */
  async #handOver(repair) {
    if (repair.handed === 'files') {
      const files = [...repair.files].map(([path, text]) => new File([text], path, { type: 'text/plain' }));
      const uploads = await Promise.all(files.map((file) => this.client.uploads.create(file, this.#options)));
      return { attachments: uploads.map(({ id }) => ({ uploadId: id })) };
    }
    const folder = join(this.folder, 'handed', repair.name);
    writeTree(folder, new Map([...repair.files, ...companions(repair)]));
    const archive = tarGz(folder, repair.name);
    rmSync(folder, { recursive: true });
    const file = new File([archive], `${repair.name}.tar.gz`, { type: 'application/gzip' });
    if (repair.handed === 'archive') {
      const { id } = await this.client.uploads.create(file, this.#options);
      return { attachments: [{ uploadId: id }] };
    }
    const project = await this.client.projects.create({ name: repair.name }, this.#options);
    await this.client.projects.addFile(project.id, file, this.#options);
    return { projectId: project.id };
  }

  async #end(id) {
    for (;;) {
      const task = await this.client.tasks.get(id, this.#options);
      if (FINAL.includes(task.status)) return task;
      // Nobody answers: a task that asks is not solved.
      if (task.status === 'awaiting_input') await this.client.tasks.cancel(id, this.#options);
      await delay(this.#every, undefined, this.#options).catch(() => this.#over.signal.throwIfAborted());
    }
  }

  /** The files as they were handed over, with what was published in their place. */
  async #results({ name, handed, files }, task) {
    const published = await Promise.all(
      (task.result?.fileIds ?? []).map(async (id) => {
        const [file, content] = await Promise.all([
          this.client.files.get(id, this.#options),
          this.client.files.content(id, this.#options).then((answer) => answer.arrayBuffer()),
        ]);
        return [file.name, Buffer.from(content)];
      }),
    );
    if (handed === 'files') {
      const own = published.filter(([path]) => files.has(path));
      return new Map([...files, ...own.map(([path, content]) => [path, content.toString()])]);
    }
    const archive = published.findLast(([path]) => path === `${name}.tar.gz`)?.[1];
    return archive === undefined ? files : this.#unpacked(name, archive);
  }

  #unpacked(name, archive) {
    const folder = join(this.folder, 'published', name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    try {
      execFileSync('tar', ['--no-same-owner', '-xzf', '-', '-C', folder], {
        input: archive,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      return readTree(join(folder, name));
    } catch {
      return new Map();
    }
  }
}

/** The task in the words of a user. */
function wording({ name, handed, title, problem, test }) {
  if (handed === 'files') {
    const hand =
      'The files are in `attachments/`. When you are done publish the file that you changed, under its own name.';
    return `${title}\n\n${problem}\n\n${hand} The test is \`${test}\` in that folder; it is right and stays as it is.`;
  }
  const from = `${handed === 'project' ? '/project' : 'attachments'}/${name}.tar.gz`;
  return [
    `${title}\n\n${problem}\n`,
    `The folder \`${name}\` is packed in \`${from}\`; unpack it into the workdir (\`tar --no-same-owner -xzf\`). Its tests run`,
    `there by \`${test}\`; they are right and stay as they are. When they pass, pack the folder again, without what was`,
    `installed or built, and publish it as \`${name}.tar.gz\`. There is nobody to ask.`,
  ].join('\n');
}
