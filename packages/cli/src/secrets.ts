import { text } from 'node:stream/consumers';
import type { CreateSecret, Millwright, Secret } from '@millwright/sdk';
import { client } from './account.js';
import { type Line, UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';

type Binding = CreateSecret['bindings'][number];

/** The verbs below `secrets`. */
export const SECRETS: Record<string, Verb | undefined> = {
  list: {
    words: [],
    options: {},
    async run(line) {
      for await (const one of client().secrets.list()) print(line, one);
      return 0;
    },
  },
  set: {
    words: ['NAME'],
    options: {
      host: 'texts', header: 'text', form: 'text', user: 'text', query: 'text', method: 'texts', path: 'texts', project: 'text', mine: 'switch',
      env: 'text', description: 'text',
    },
    async run(line) {
      const mw = client();
      const name = line.word(0);
      const [bindings, { scope, projectId }] = [bindingsIn(line), scopeIn(line)];
      const given = { value: await valueIn(), ...textsIn(line) };
      const before = await named(mw, { name, scope, projectId });
      if (before !== null) return print(line, await mw.secrets.update(before.id, { ...given, ...(bindings.length > 0 && { bindings }) }));
      if (bindings.length === 0) throw new UsageError('--host is missing: it says where the value goes, such as --host api.github.com');
      return print(line, await mw.secrets.create({ name, scope, ...given, bindings, ...(projectId !== null && { projectId }) }));
    },
  }, // prettier-ignore
  delete: {
    words: ['NAME|ID'],
    options: { project: 'text', mine: 'switch' },
    async run(line) {
      const mw = client();
      const [word, of] = [line.word(0), scopeIn(line)];
      const id = ID.test(word) ? word : (await named(mw, { name: word, ...of }))?.id;
      if (id === undefined) throw new UsageError(`There is no secret ${word} ${WHOSE[of.scope]}: 'mw secrets list' shows all.`);
      const gone = await mw.secrets.delete(id);
      console.log(line.json ? JSON.stringify(gone) : `Deleted ${gone.id}`);
      return 0;
    },
  },
}; // prettier-ignore

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const WHOSE = { workspace: 'of the workspace', project: 'of this project', user: 'of your own' } as const;

function scopeIn(line: Line): Pick<Secret, 'scope' | 'projectId'> {
  const projectId = line.text('project') ?? null;
  if (!line.has('mine')) return { scope: projectId === null ? 'workspace' : 'project', projectId };
  if (projectId !== null) throw new UsageError('--mine and --project do not go together.');
  return { scope: 'user', projectId };
}

async function named(mw: Millwright, of: Pick<Secret, 'name' | 'scope' | 'projectId'>): Promise<Secret | null> {
  for await (const one of mw.secrets.list())
    if (one.name === of.name && one.scope === of.scope && one.projectId === of.projectId) return one;
  return null;
}

/** Never an argument: those of a process are seen by others, and the history of a shell keeps them. */
async function valueIn(): Promise<string> {
  if (process.stdin.isTTY) throw new UsageError('The value comes by standard input: mw secrets set NAME … < file');
  const value = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('Standard input is empty: it has the value.');
  return value;
}

function textsIn(line: Line): { env?: string; description?: string } {
  const [env, description] = [line.text('env'), line.text('description')];
  return { ...(env !== undefined && { env }), ...(description !== undefined && { description }) };
}

/** One of each host, all with the same place. */
function bindingsIn(line: Line): Binding[] {
  const other = ['header', 'form', 'user'].find((name) => line.text(name) !== undefined);
  if (other !== undefined && line.text('query') !== undefined) throw new UsageError(`--query and --${other} do not go together.`);
  const lost = ['header', 'form', 'user', 'query', 'method', 'path'].find((name) => line.has(name));
  if (lost !== undefined && line.texts('host').length === 0) throw new UsageError(`--host is missing: --${lost} says how a value goes there.`);
  const [query, header = 'Authorization', form, user] = ['query', 'header', 'form', 'user'].map((name) => line.text(name));
  const place = query !== undefined ? { query } : { header, ...(form !== undefined && { form }), ...(user !== undefined && { user }) };
  const [methods, paths] = [line.texts('method'), line.texts('path')];
  return line.texts('host').map((text) => {
    const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
    return {
      host,
      ...(port !== undefined && { port: Number(port) }),
      ...(methods.length > 0 && { methods: methods as Exclude<Binding['methods'], undefined> }),
      ...(paths.length > 0 && { paths }),
      place: place as Binding['place'],
    };
  });
} // prettier-ignore

function print(line: Line, one: Secret): number {
  const hosts = [...new Set(one.bindings.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`)))].join(',');
  const words = `${one.id}  ${one.name}  ${one.scope}  ${hosts}  ${one.usedAt ?? 'not used yet'}`;
  console.log(line.json ? JSON.stringify(one) : plain(words));
  return 0;
}
