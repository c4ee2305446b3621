import { setTimeout as wait } from 'node:timers/promises';
import type { ChangeEnvironment, Environment, EnvironmentBuild, Millwright } from '@millwright/sdk';
import { client } from './account.js';
import { checksIn } from './checks.js';
import { objectIn } from './json-file.js';
import { type Line, UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';
import { found, show } from './versioned.js';

/** What `show` prints and the service alone says. */
const ITS_OWN = ['id', 'slug', 'version', 'createdBy', 'createdAt', 'updatedAt'];

/** The verbs below `environments`. */
export const ENVIRONMENTS: Record<string, Verb | undefined> = {
  list: {
    words: [],
    options: {},
    async run(line) {
      for await (const one of client().environments.list()) print(line, one);
      return 0;
    },
  },
  show: {
    words: ['SLUG', '[VERSION]'],
    options: {},
    run: (line) => show(line, client().environments),
  },
  set: {
    words: ['SLUG'],
    options: {
      file: 'text', name: 'text', repository: 'text', ref: 'text', setup: 'texts', variable: 'texts', host: 'texts', secret: 'texts',
      refresh: 'text', lockfile: 'texts', 'on-failure': 'text', check: 'texts', protect: 'texts', 'max-repairs': 'text',
    },
    async run(line) {
      const slug = line.word(0);
      const given = { ...(await objectIn(line.text('file'), ITS_OWN)), ...fieldsIn(line) } as ChangeEnvironment;
      const { environments } = client();
      const before = await found(environments.get(slug));
      return print(line, before === null ? await environments.create({ slug, ...given }) : await environments.update(slug, given));
    },
  },
  delete: {
    words: ['SLUG'],
    options: {},
    async run(line) {
      const slug = line.word(0);
      const gone = await client().environments.delete(slug);
      console.log(line.json ? JSON.stringify(gone) : plain(`Deleted ${slug}`));
      return 0;
    },
  },
  builds: {
    words: ['SLUG'],
    options: { log: 'switch' },
    async run(line) {
      for await (const one of client().environments.builds(line.word(0))) {
        if (line.json) console.log(JSON.stringify(one));
        else console.log(plain(`${one.id}  version ${one.version}  ${one.state}  ${one.createdAt}  ${one.error ?? ''}`.trimEnd()));
        if (line.has('log') && !line.json) console.log(plain(one.log));
      }
      return 0;
    },
  },
  build: {
    words: ['SLUG'],
    options: {},
    async run(line) {
      const slug = line.word(0);
      const mw = client();
      const { id } = await mw.environments.build(slug);
      const build = await ended(mw, slug, id, line.json ? () => undefined : (log) => process.stderr.write(plain(log)));
      console.log(line.json ? JSON.stringify(build) : plain(`${build.id}  version ${build.version}  ${build.state}  ${build.error ?? ''}`.trimEnd()));
      return build.state === 'ready' ? 0 : 1;
    },
  },
  test: {
    words: ['SLUG', 'COMMAND'],
    options: {},
    async run(line) {
      const { exitCode, stdout, stderr } = await client().environments.test(line.word(0), line.word(1));
      if (line.json) console.log(JSON.stringify({ exitCode, stdout, stderr }));
      else process.stdout.write(plain(stdout));
      if (!line.json) process.stderr.write(plain(stderr));
      return exitCode;
    },
  },
}; // prettier-ignore

const LOOK_MS = 1_000;

/** Waits for the end of a build. `show` is given what its commands write, as it comes. */
async function ended(mw: Millwright, slug: string, id: string, show: (log: string) => void): Promise<EnvironmentBuild> {
  for (let shown = ''; ; await wait(LOOK_MS)) {
    for await (const build of mw.environments.builds(slug)) {
      if (build.id !== id) continue;
      // It keeps the last 16 KiB: what was shown may begin before them.
      show(build.log.startsWith(shown) ? build.log.slice(shown.length) : build.log);
      shown = build.log;
      if (build.state !== 'building') return build;
    }
  }
}

function fieldsIn(line: Line): Record<string, unknown> {
  const [name, url, ref] = [line.text('name'), line.text('repository'), line.text('ref')];
  const [refresh, onFailure] = [line.text('refresh'), line.text('on-failure')];
  const [setup, hosts, secrets] = [line.texts('setup'), line.texts('host'), line.texts('secret')];
  const [variables, globs] = [line.texts('variable'), line.texts('lockfile')];
  if (ref !== undefined && url === undefined) throw new UsageError('--ref goes with --repository.');
  if (refresh !== undefined && globs.length > 0) throw new UsageError('--refresh and --lockfile do not go together.');
  return {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { repository: { url, ...(ref !== undefined && { ref }) } }),
    ...(setup.length > 0 && { setup }),
    ...(variables.length > 0 && { variables: Object.fromEntries(variables.map(pairOf)) }),
    ...(hosts.length > 0 && { allowHosts: hosts }),
    ...(secrets.length > 0 && { secrets }),
    ...(refresh !== undefined && { refresh }),
    ...(globs.length > 0 && { refresh: { onLockfile: globs } }),
    ...(onFailure !== undefined && { onFailure }),
    ...checksIn(line),
  };
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--variable takes NAME=VALUE, not ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function print(line: Line, one: Environment): number {
  const hosts = one.allowHosts.length === 0 ? 'no hosts' : one.allowHosts.join(',');
  console.log(line.json ? JSON.stringify(one) : plain(`${one.slug}  version ${one.version}  ${hosts}  ${one.name}`));
  return 0;
}
