// One installation of sandboxes under attack: two tasks of two tenants whose secrets have the same names.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { numbers } from '../harness/numbers.js';
import { type Installation, startAs, type TaskSandbox, type Way } from '../harness/sandboxes.js';
import { AuthorityFile } from '../harness/web-hosts.js';
import type { TaskSecret } from '../../src/engine/sandbox/sandbox.js';
import type { Attempt, Kind, Scene } from './attempt.js';
import { Oracle, viewsOf } from './oracle.js';
import type { Row } from './table.js';
import { type Heard, Upstreams } from './upstreams.js';

const ATTACKER = readFileSync(fileURLToPath(new URL('attacker.mjs', import.meta.url)), 'utf8');
/** The last one is a rebound name that leads to the bound host at first, as it should. */
const BOUND = new Set(['allowed.test', 'bound.wild.test', 'r4.wild.test']);
/** Of an attempt whose kind says no more: the proxy has answered, or the command has said something. */
const ARRIVED = { sent: /^HTTP\/1\.1 \d{3}/, shell: /\S/ };
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export interface Result extends Row {
  /** What of a value came into the sandbox, or to a host or place that it is not for; and attempts that did not come as far as they should. */
  wrongs: string[];
}

/** The secret that nobody has approved. */
const WAITING = 'WAITING';

export class Assault {
  readonly oracle: Oracle;
  private constructor(
    readonly upstreams: Upstreams,
    private readonly authority: AuthorityFile,
    readonly installation: Installation,
    readonly task: TaskSandbox,
    readonly secrets: TaskSecret[],
    private readonly stranger: TaskSandbox,
    private readonly strange: TaskSecret[],
  ) {
    this.oracle = new Oracle({ ...valuesOf('mine', secrets), ...valuesOf('theirs', strange) });
  }

  static async start(way: Way, seed: number): Promise<Assault> {
    const random = numbers(seed);
    const upstreams = await Upstreams.start();
    const { https, http, names } = upstreams;
    const authority = new AuthorityFile();
    const allowHosts = [`allowed.test:${https}`, `allowed.test:${http}`, `*.wild.test:${https}`];
    const installation = await startAs(way, { network: 'allow', allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: authority.path }, names); // prettier-ignore
    const rebound = upstreams.rebound.map((host) => host.split(':')[0] ?? '');
    const [mine, theirs] = [secretsOf(random, https, rebound), secretsOf(random, https, [])];
    const [task, stranger] = [await installation.open(mine), await installation.open(theirs)];
    const made = new Assault(upstreams, authority, installation, task, mine, stranger, theirs);
    await made.warm();
    return made;
  }

  async close(): Promise<void> {
    await this.installation.close();
    await this.upstreams.stop();
    this.authority.remove();
  }

  /** Makes so many attempts of each kind. */
  async make(kinds: readonly Kind[], times: number, seed: number): Promise<Result[]> {
    const scene = this.scene();
    const timesOf = ({ slow = false }: Kind) => (slow ? Math.ceil(times / 3) : times);
    const all = kinds.flatMap((kind, at) => {
      const random = numbers(seed + at);
      const first = Math.floor(random() * 1000);
      return Array.from({ length: timesOf(kind) }, (_, n) => ({ kind, attempt: kind.make(scene, first + n, random) }));
    });
    const before = this.upstreams.heard.length;
    const answers = await this.run(all.map(({ kind, attempt }) => ({ ...attempt, shows: kind.shows?.source })));
    const results = kinds.map((kind): Result => ({
      kind: kind.name,
      attempts: timesOf(kind),
      held: timesOf(kind),
      wrongs: [],
    }));
    all.forEach(({ kind, attempt }, n) => {
      const { shows = 'shell' in attempt ? ARRIVED.shell : ARRIVED.sent } = kind;
      const wrong = this.judge(shows, answers[n] ?? Buffer.alloc(0));
      const result = results[kinds.indexOf(kind)];
      if (result === undefined || wrong.length === 0) return;
      result.held -= 1;
      result.wrongs.push(...wrong.map((what) => `${JSON.stringify(attempt).slice(0, 600)}: ${what}`));
    });
    results.push({ kind: 'what the hosts were sent', ...this.judged(this.upstreams.heard.slice(before).map((one) => this.misplaced(one))) }); // prettier-ignore
    return results;
  }

  /** The files that the commands made, the folder of the service, and what is seen of all processes. */
  leftovers(): Result[] {
    const rows = { 'files of the service and of its tasks': this.oracle.findBelow(this.installation.path), 'processes of the machine': this.oracle.findInProcesses() }; // prettier-ignore
    return Object.entries(rows).map(([kind, wrongs]) => ({ kind, ...this.judged([wrongs]) }));
  }

  /** What attempts brought back, in their order. */
  async run(attempts: (Attempt & { shows?: string | undefined })[]): Promise<Buffer[]> {
    const folder = join(this.task.workdir, 'got');
    rmSync(folder, { recursive: true, force: true });
    await this.task.writeFile('attempts.json', JSON.stringify(attempts));
    const release = setInterval(() => this.upstreams.release(), 2_000);
    const { stderr, exitCode } = await this.task
      .run('node attacker.mjs attempts.json got', { network: true, timeoutSeconds: 500 })
      .finally(() => clearInterval(release));
    if (exitCode !== 0) throw new Error(`The attacker ended with ${exitCode}: ${stderr}`);
    return attempts.map((_, n) => readFileSync(join(folder, String(n))));
  }

  private judged(wrongs: string[][]): Omit<Result, 'kind'> {
    const held = wrongs.filter(({ length }) => length === 0).length;
    return { attempts: wrongs.length, held, wrongs: wrongs.flat() };
  }

  private judge(shows: RegExp, answer: Buffer): string[] {
    const found = this.oracle.findInAnswer(answer);
    if (viewsOf(answer).some((view) => shows.test(view.toString('latin1')))) return found;
    return [...found, `it did not come so far: ${answer.toString('latin1').slice(0, 600)}`];
  }

  /** A value at another host than its own, or at another place there than that of its binding. */
  private misplaced({ by, name, bytes }: Heard): string[] {
    const sent = Buffer.concat(bytes);
    const bound = by === 'bound' && BOUND.has(name ?? '');
    if (!bound) return this.oracle.find(sent).map((what) => `${by} ${name}: ${what}`);
    const waits = this.oracle.find(sent).filter((what) => what.includes(WAITING));
    if (waits.length > 0) return waits.map((what) => `${name}, not approved: ${what}`);
    const text = sent
      .toString('latin1')
      .replace(/^(authorization: (bearer |basic )|x-scoped: )[^\r\n]*\r\n/gim, '')
      .replace(/(?<=^[A-Z]+ \/[^ ]*[?&]key=)[^& \r\n]*/gm, '')
      .replace(/(?<=^[A-Z]+ \/[^ ]*[?&]key=&key=)[^& \r\n]*/gm, '');
    return this.oracle.find(Buffer.from(text, 'latin1')).map((what) => `${name}, misplaced: ${what}`);
  }

  private scene(): Scene {
    const { https, http, rebound } = this.upstreams;
    const [token = '', key = '', scoped = '', waiting = ''] = this.secrets.map(({ placeholder }) => placeholder);
    const at = (name: string) => `${name}.test:${https}`;
    return {
      ...{ bound: at('allowed'), basic: at('bound.wild'), other: at('other.wild'), thief: at('thief.wild') },
      ...{ plain: `allowed.test:${http}`, rebound, token, key, scoped, waiting },
      strange: { token: this.strange[0]?.placeholder ?? '', socket: this.sockets().at(-1) ?? '', folder: this.stranger.workdir }, // prettier-ignore
    };
  }

  /** Of the ways out that are open. */
  private sockets(): string[] {
    const folders = readdirSync(this.installation.path, { recursive: true, encoding: 'utf8' }).filter((name) => /network\.[^/]+\/[0-9a-f]{16}$/.test(name)); // prettier-ignore
    return folders.map((name) => join(this.installation.path, name));
  }

  /** Both tasks have used their secrets once: from here on there is something to be found. */
  private async warm(): Promise<void> {
    await this.task.writeFile('attacker.mjs', ATTACKER);
    for (const [task, secrets] of [
      [this.task, this.secrets],
      [this.stranger, this.strange],
    ] as const) {
      const { stdout } = await task.run(`curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://allowed.test:${this.upstreams.https}/a`, { network: true }); // prettier-ignore
      const sent = Buffer.concat(this.upstreams.heard.at(-1)?.bytes ?? []).toString('latin1');
      if (!stdout.startsWith('seen ') || !sent.includes(secrets[0]?.value ?? '-'))
        throw new Error(`${stdout}: ${sent}`);
    }
  }
}

function valuesOf(whose: string, secrets: TaskSecret[]): Record<string, string> {
  return Object.fromEntries(secrets.map(({ name, value }) => [`${whose} ${name}`, value ?? '']));
}

function secretsOf(random: () => number, port: number, rebound: string[]): TaskSecret[] {
  const word = (length: number) =>
    Array.from({ length }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('');
  const at = (host: string, place: TaskSecret['bindings'][number]['place'], more = {}) => ({ host, port, methods: null, paths: null, place, ...more }); // prettier-ignore
  const bearer = { header: 'Authorization', form: 'bearer', user: null } as const;
  const basic = { header: 'Authorization', form: 'basic', user: null } as const;
  const secret = (name: string, value: string, bindings: TaskSecret['bindings']): TaskSecret => ({ name, env: name, placeholder: `mwsec_${word(24)}`, value, approved: true, bindings }); // prettier-ignore
  return [
    secret('TOKEN', `ghp_${word(36)}`, [at('allowed.test', bearer), at('bound.wild.test', basic), ...rebound.map((host) => at(host, bearer))]), // prettier-ignore
    secret('KEY', `${word(20)}+/&"<>%='${word(20)}`, [at('allowed.test', { query: 'key' })]),
    secret('SCOPED', word(40), [at('allowed.test', { header: 'X-Scoped', form: 'raw', user: null }, { methods: ['GET'], paths: ['/repos/acme/**'] })]), // prettier-ignore
    { ...secret(WAITING, word(40), [at('allowed.test', bearer), at('allowed.test', { query: 'wait' })]), approved: false }, // prettier-ignore
  ];
}
