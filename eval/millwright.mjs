// Has our own service make the repairs: the built program on its embedded PostgreSQL and real sandbox, over HTTP.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeReachable } from '../dist/platform/config/reachable.js';
import { Client } from '../scripts/demo-client.mjs';
import { Service } from '../scripts/demo-service.mjs';
import { tarGz } from '../scripts/tar.mjs';
import { readTree, writeTree } from './checks.mjs';
import { companions } from './repairs.mjs';

const POLL_MS = 50;
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

  /** `models`: a configuration that takes the place of the operator's; without it the operator's models are asked. */
  static async start({ models }) {
    const started = new Millwright();
    try {
      await started.#start(models);
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  async #start(models) {
    this.folder = mkdtempSync(join(tmpdir(), 'millwright-eval-'));
    this.#undo.push(() => rmSync(this.folder, { recursive: true, force: true }));
    // Under root the database and the sandbox are other users, who have to pass.
    chmodSync(this.folder, 0o711);
    const dataDir = join(this.folder, 'data');
    this.#undo.push(() => removeReachable(dataDir));
    const given =
      models === undefined && process.env.CONFIG_FILE ? readFileSync(process.env.CONFIG_FILE, 'utf8') : '{}';
    const config = { ...JSON.parse(given), rateLimits: { free: PLAN, paid: PLAN }, ...(models && { models }) };
    const configFile = join(this.folder, 'config.json');
    writeFileSync(configFile, JSON.stringify(config), { mode: 0o600 });
    const service = new Service(join(this.folder, 'service.log'));
    this.#undo.push(() => service.stop());
    // An empty variable counts as none.
    const none = Object.fromEntries(OWN.map((name) => [name, '']));
    const own = { NODE_ENV: 'production', DATA_DIR: dataDir, CONFIG_FILE: configFile, PORT: '0' };
    await service.start({ ...none, ...own }, () => undefined);
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await service.cli('key', 'create', ...who, '--name', 'eval');
    this.client = new Client(service.url, key.secret);
    void service.exited.then((reason) =>
      this.client.abort(new Error(`The service ended: ${reason}.\n${service.tail()}`)),
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

  /** Carries out one repair. Resolves with the files that it left, the task's own figures, and why it ended. */
  async make(repair, model) {
    const handed = await this.#handOver(repair);
    const body = { title: 'A repair', content: wording(repair), model, budget: BUDGET, ...handed };
    const began = performance.now();
    const { task } = await this.client.post('/v1/tasks', randomUUID(), body);
    const ended = await this.#end(task.id);
    const wallMs = performance.now() - began;
    const files = await this.#results(repair, ended);
    return { files, wallMs, status: ended.statusReason?.code ?? ended.status, usage: ended.usage };
  }

  /** As a user does: single files as they are, a folder as an archive, of a project once for all its tasks. */
  async #handOver(repair) {
    if (repair.handed === 'files') {
      const uploads = [...repair.files].map(([path, text]) => this.client.upload(path, 'text/plain', text));
      return { attachments: (await Promise.all(uploads)).map(({ upload }) => ({ uploadId: upload.id })) };
    }
    const folder = join(this.folder, 'handed', repair.name);
    writeTree(folder, new Map([...repair.files, ...companions(repair)]));
    const archive = tarGz(folder, repair.name);
    rmSync(folder, { recursive: true });
    const file = [`${repair.name}.tar.gz`, 'application/gzip', archive];
    if (repair.handed === 'archive') {
      const { upload } = await this.client.upload(...file);
      return { attachments: [{ uploadId: upload.id }] };
    }
    const { project } = await this.client.post('/v1/projects', randomUUID(), { name: repair.name });
    await this.client.upload(...file, `/v1/projects/${project.id}/files`);
    return { projectId: project.id };
  }

  async #end(id) {
    for (;;) {
      const { task } = await this.client.get(`/v1/tasks/${id}`);
      if (FINAL.includes(task.status)) return task;
      // Nobody answers: a task that asks is not solved.
      if (task.status === 'awaiting_input') await this.client.post(`/v1/tasks/${id}/cancel`, randomUUID(), {});
      await this.client.pause(POLL_MS);
    }
  }

  /** The files as they were handed over, with what was published in their place. */
  async #results({ name, handed, files }, task) {
    const published = await Promise.all(
      (task.result?.fileIds ?? []).map(async (id) => {
        const [{ file }, content] = await Promise.all([
          this.client.get(`/v1/files/${id}`),
          this.client.bytes(`/v1/files/${id}/content`),
        ]);
        return [file.name, content];
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
