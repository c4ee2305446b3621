// An environment while it is written.
import type { ChangeEnvironment, Environment } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { type DefaultsDraft, defaultsDraftOf, defaultsIn, NO_DEFAULTS } from '../../checks/checks-draft.ts';

/** A line of a list: `id` tells it from the others, whatever stands in it. */
export interface Line {
  id: number;
  text: string;
}
export interface Pair {
  id: number;
  name: string;
  value: string;
}

export interface Draft {
  slug: string;
  name: string;
  url: string;
  /** Empty: the default branch. */
  ref: string;
  setup: Line[];
  variables: Pair[];
  tools: Pair[];
  allowHosts: string[];
  secrets: string[];
  /** MiB; empty: as the operator has it. So are the next two. */
  memory: string;
  disk: string;
  seconds: string;
  refresh: 'never' | 'daily' | 'onLockfile';
  files: string[];
  onFailure: Environment['onFailure'];
  checks: DefaultsDraft;
  /** Null: it says nothing of them. */
  mcpServers: string[] | null;
}

const MIB = 1024 ** 2;

let ids = 0;
export const newLine = (text = ''): Line => ({ id: ++ids, text });
export const newPair = (name = '', value = ''): Pair => ({ id: ++ids, name, value });

export const newDraft = (): Draft => ({
  ...{ slug: '', name: '', url: '', ref: '' },
  ...{ setup: [newLine()], variables: [], tools: [], allowHosts: [], secrets: [] },
  ...{ memory: '', disk: '', seconds: '', refresh: 'never', files: [], onFailure: 'fail' },
  checks: NO_DEFAULTS,
  mcpServers: null,
});

const pairsOf = (of: Record<string, string>) => Object.entries(of).map(([name, value]) => newPair(name, value));
const textOf = (value: number | null, unit = 1) => (value === null ? '' : String(value / unit));

export function draftOf(of: Environment): Draft {
  const { slug, name, repository, setup, variables, tools, allowHosts, secrets, resources, refresh, onFailure } = of;
  return {
    ...{ slug, name, url: repository?.url ?? '', ref: repository?.ref ?? '', allowHosts, secrets, onFailure },
    setup: setup.map(newLine),
    variables: pairsOf(variables),
    tools: pairsOf(tools),
    memory: textOf(resources.memoryBytes, MIB),
    disk: textOf(resources.diskBytes, MIB),
    seconds: textOf(resources.wallClockSeconds),
    refresh: typeof refresh === 'string' ? refresh : 'onLockfile',
    files: typeof refresh === 'string' ? [] : refresh.onLockfile,
    checks: defaultsDraftOf(of),
    mcpServers: of.mcpServers,
  };
}

/** What is wrong with a field before anything is sent, by the name that the API has for it. */
export type Faults = Record<string, string>;

export function faultsOf(draft: Draft): Faults {
  const texts = t.environments;
  const faults: Faults = {};
  if (draft.slug.trim() === '') faults['slug'] = texts.needed;
  if (draft.refresh === 'onLockfile' && draft.files.length === 0) faults['refresh.onLockfile'] = texts.needed;
  for (const field of ['memory', 'disk', 'seconds'] as const) {
    const text = draft[field].trim();
    if (text !== '' && !(Number(text) > 0)) faults[field] = texts.notNumber;
  }
  for (const field of ['variables', 'tools'] as const) {
    const names = draft[field].map(({ name }) => name.trim());
    // The last of two would win, and the first be gone without a word.
    const twice = names.find((name, n) => name !== '' && names.indexOf(name) !== n);
    if (twice !== undefined) faults[field] = texts.twice(twice);
    if (draft[field].some(({ name, value }) => name.trim() === '' && value.trim() !== '')) faults[field] = texts.needed;
  }
  return faults;
}

const recordOf = (pairs: Pair[]) =>
  Object.fromEntries(pairs.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]));
const numberOf = (text: string, unit = 1) => (text.trim() === '' ? null : Math.round(Number(text) * unit));

export function sentOf(draft: Draft) {
  const { slug, name, url, ref, setup, variables, tools, allowHosts, secrets, refresh, files, onFailure } = draft;
  const { memory, disk, seconds } = draft;
  return {
    name: name.trim() || slug.trim(),
    repository: url.trim() === '' ? null : { url: url.trim(), ...(ref.trim() !== '' && { ref: ref.trim() }) },
    // A command that is blank was never one.
    setup: setup.map(({ text }) => text).filter((text) => text.trim() !== ''),
    variables: recordOf(variables),
    tools: recordOf(tools),
    ...{ allowHosts, secrets, onFailure },
    resources: {
      memoryBytes: numberOf(memory, MIB),
      diskBytes: numberOf(disk, MIB),
      wallClockSeconds: numberOf(seconds),
    },
    refresh: refresh === 'onLockfile' ? { onLockfile: files } : refresh,
    ...defaultsIn(draft.checks),
    mcpServers: draft.mcpServers,
  };
}

/** What is another than before: what somebody else changes meanwhile stays. */
export function changesOf(draft: Draft, before: Environment): ChangeEnvironment {
  const was = new Map<string, unknown>(Object.entries(sentOf(draftOf(before))));
  const changed = Object.entries(sentOf(draft)).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(was.get(name));
  });
  return Object.fromEntries(changed);
}
