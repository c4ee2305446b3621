import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findProgram, run, script } from '../host.js';
import type { Authorities } from '../../../platform/config/authorities.js';
import { FORWARDER, NODE_PROXY, WAY_OUT } from '../network/inside.js';
import { TOOLS } from './tools.js';
import { writeEtc, namesFromEtc, versionOfEtc } from './etc.js';
import type { Shared } from '../workdir/shared-folders.js';
import { type Mount, nodePrograms, reachableCopy, replace, ripgrep, worldFolder } from './programs.js';

/** The inside of every sandbox of this process: made at boot, so that a start is a few mounts and nothing else. */
export interface RootFolder {
  /** Folder with the mount points, `/etc` and links; becomes the read-only `/`. */
  path: string;
  /** Mounted on top of it, in this order. */
  mounts: Mount[];
  /** `PATH` inside. */
  searchPath: string;
  /** `bash` or `sh`, as seen inside, with the options by which it reads no file before the command. */
  shell: string[];
  /** Node as the service runs it, as seen inside. */
  node: string;
  /** What is not there, one sentence each. */
  missing: string[];
}

export const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];
export const HOME = '/home/agent';
/**
 * What every command finds in its environment beside PATH and HOME: no colours, no pager, nobody at a terminal, a name for
 * commits, and no second try of a download, for there is no network. npm tried for 70 s, and gives up after 0.6 s so.
 */
export const COMMAND_VARIABLES: Record<string, string> = {
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  NO_COLOR: '1',
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Millwright',
  GIT_AUTHOR_EMAIL: 'millwright@localhost',
  GIT_COMMITTER_NAME: 'Millwright',
  GIT_COMMITTER_EMAIL: 'millwright@localhost',
  DEBIAN_FRONTEND: 'noninteractive',
  NO_UPDATE_NOTIFIER: '1',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  PIP_RETRIES: '0',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  CARGO_NET_RETRY: '0',
};
/**
 * Where a setup may put what its tasks are to find at a fixed path. It is a link into the home, which leads nowhere until the folder is there: what a
 * build keeps is workdir and home.
 */
export const OPT_ENV = { path: '/opt/env', inHome: '.opt-env' };
/** Where the operator's programs are mounted, each under the last name of its folder (reference §28). */
const PROGRAMS = '/opt/programs';
/** Where agent programs are mounted, each under the name of its engine (reference §30). */
export const ENGINES = '/opt/engines';
/** Where the files of a project are mounted; empty without one. */
export const PROJECT = '/project';
/** Where skills are mounted; empty without any. */
export const SKILLS = '/skills';
/** What of both is mounted: its folder on the host, and where it is inside. */
export function sharedMounts({ project, skills }: Shared): [source: string, target: string][] {
  const both: [string | null, string][] = [[project, PROJECT], [skills, SKILLS]]; // prettier-ignore
  return both.flatMap(([source, target]) => (source === null ? [] : [[source, target]]));
}
/**
 * Files of `/proc` that tell of the host, empty inside: names of keys; what the kernel was started with; the pressure on the
 * machine, where everybody may also have the kernel watch for more.
 */
export const HIDDEN = [
  'keys',
  'key-users',
  'cmdline',
  ...['cpu', 'io', 'irq', 'memory'].map((name) => `pressure/${name}`),
]
  .map((name) => `/proc/${name}`)
  .filter((path) => existsSync(path));
/** The file that is mounted over each of them. */
export const EMPTY = '/etc/empty';
/** Where the pipes of a box are mounted, and the program that holds it. */
export const PIPES = '/opt/millwright/pipes';
export const BOX_SCRIPT = '/opt/millwright/box.sh';
const FOLDERS = [
  'dev/pts',
  'dev/shm',
  'etc',
  HOME.slice(1),
  PIPES.slice(1),
  'proc',
  PROJECT.slice(1),
  SKILLS.slice(1),
  'tmp',
  'usr',
  'workdir',
];

/** Folders of this machine. */
interface Further {
  programs: readonly string[];
  engines: readonly { name: string; path: string }[];
}

/** @param tools names of what may be mounted below {@link TOOLS}. @param further what the operator shows to every command. */
export async function prepareRoot(
  base: string,
  uid: number | null,
  authorities: Authorities,
  tools: readonly string[],
  further: Further,
): Promise<RootFolder> {
  const node = nodePrograms();
  const rg = ripgrep();
  const programs = rg === null ? node.mounts : [...node.mounts, rg];
  const { links, folders } = systemFolders();
  const mounts = [{ source: '/usr', target: '/usr' }, ...folders.map((path) => ({ source: path, target: path }))];
  const shown = [
    ...programs,
    ...further.programs.map((path) => ({ source: path, target: join(PROGRAMS, basename(path)) })),
    ...further.engines.map(({ name, path }) => ({ source: path, target: join(ENGINES, name) })),
  ];
  for (const { source, target } of shown) mounts.push({ source: await reachableCopy(source, base, uid), target });
  worldFolder(join(base, 'roots'));
  const path = skeleton(base, links, { mounts, tools: [...new Set(tools)].sort() }, authorities.certificates);
  const missing = rg === null ? ['rg is not inside: npm has not installed the ripgrep package of this platform.'] : [];
  const searchPath = ['/opt/millwright', node.path, '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  const shell = existsSync('/usr/bin/bash') ? ['/usr/bin/bash', '--norc', '--noprofile'] : ['/bin/sh'];
  return { path, mounts, searchPath: [...new Set(searchPath)].join(':'), shell, node: node.node, missing };
}

/** `/bin`, `/lib` and so on, as the host has them: links into `/usr`, or folders of their own. */
function systemFolders() {
  const links = new Map<string, string>();
  const folders: string[] = [];
  for (const name of readdirSync('/').filter((entry) => /^(s?bin|lib(|32|64|x32))$/.test(entry))) {
    if (lstatSync(`/${name}`).isSymbolicLink()) links.set(name, readlinkSync(`/${name}`));
    else folders.push(`/${name}`);
  }
  return { links, folders };
}

/** What is mounted in each sandbox, and the names of what may be. */
interface Places {
  mounts: Mount[];
  tools: readonly string[];
}

function skeleton(
  base: string,
  links: Map<string, string>,
  places: Places,
  authorities: Authorities['certificates'],
): string {
  const etc = namesFromEtc();
  const trusted = authorities.map(({ fingerprint256 }) => fingerprint256);
  const version = [...links, places, versionOfEtc(etc), trusted, FILES, LINKS, FOLDERS];
  const hash = createHash('sha256').update(JSON.stringify(version)).digest('hex').slice(0, 12);
  const target = join(base, 'roots', hash);
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  const umask = process.umask(0o022);
  try {
    populate(draft, links, places);
    writeEtc(draft, etc, authorities);
  } finally {
    process.umask(umask);
  }
  replace(draft, target);
  return target;
}

function populate(draft: string, links: Map<string, string>, { mounts, tools }: Places): void {
  for (const folder of [...FOLDERS, ...tools.map((name) => join(TOOLS, name))])
    mkdirSync(join(draft, folder), { recursive: true, mode: 0o755 });
  for (const [name, to] of links) symlinkSync(to, join(draft, name));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(draft, name), text, { mode: 0o644 });
  for (const [name, to] of Object.entries(LINKS)) symlinkSync(to, join(draft, name));
  for (const { source, target: inside } of mounts) mountPoint(join(draft, inside), statSync(source).isDirectory());
  if (mounts.some((one) => one.target.endsWith('/npm'))) npmLinks(join(draft, 'opt/node/bin'));
}

const FILES: Record<string, string> = {
  'etc/passwd': `root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:${HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  'etc/group': 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
  [EMPTY.slice(1)]: '',
  [WAY_OUT.slice(1)]: '',
  [FORWARDER.slice(1)]: readFileSync(new URL('../launch/forwarder.mjs', import.meta.url), 'utf8'),
  [BOX_SCRIPT.slice(1)]: script('box'),
  [NODE_PROXY.slice(1)]: readFileSync(new URL('../launch/proxy.cjs', import.meta.url), 'utf8'),
  'etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  ...Object.fromEntries(DEVICES.map((name) => [`dev/${name}`, ''])),
};

const LINKS: Record<string, string> = {
  'dev/ptmx': 'pts/ptmx',
  'dev/fd': '/proc/self/fd',
  'dev/stdin': '/proc/self/fd/0',
  'dev/stdout': '/proc/self/fd/1',
  'dev/stderr': '/proc/self/fd/2',
  [OPT_ENV.path.slice(1)]: join(HOME, OPT_ENV.inHome),
};

function mountPoint(path: string, folder: boolean): void {
  mkdirSync(folder ? path : dirname(path), { recursive: true, mode: 0o755 });
  if (!folder) writeFileSync(path, '', { mode: 0o755 });
}

function npmLinks(bin: string): void {
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
}

/** Whether programs cannot be run from the file system of a path; a mount of it in a user namespace must say so too. */
export async function noExec(path: string): Promise<boolean> {
  const findmnt = findProgram('findmnt');
  if (findmnt === null) return false;
  const { stdout } = await run(findmnt, ['--noheadings', '--output', 'VFS-OPTIONS', '--target', path], { env: {} });
  return stdout.trim().split(',').includes('noexec');
}
