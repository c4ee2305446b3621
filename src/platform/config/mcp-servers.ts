// Servers of the Model Context Protocol whose tools tasks may have (reference §28): `mcpServers` of CONFIG_FILE.
import { z } from 'zod';

/** How many of them one task has at most. */
export const MOST_SERVERS = 8;
const SERVERS = 32;
export const SERVER_NAME = /^[a-z][a-z0-9-]{0,19}$/;
const MEMORY = 512 * 1024 ** 2;
/** The service's own: what knows them may be everybody. */
const NEVER = ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'DATABASE_URL', 'REDIS_URL'];
/** Stands for a value that is not known yet: a port as well as a piece of a name. */
const PLACEHOLDER = '1';
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const glob = z.string().min(1).max(128);
const noNul = (text: string) => !text.includes('\0');
const words = z.string().refine(noNul, 'a text without NUL is expected');
/** What `fetch` sends. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const server = z
  .strictObject({
    /** What it is for: people and models read it. */
    description: z.string().max(2000).default(''),
    /** A program in the sandbox of the task, without a shell. */
    command: words.min(1).optional(),
    args: z.array(words).optional(),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable is expected'), words).optional(),
    network: z.boolean().optional(),
    memoryBytes: z.int().positive().optional(),
    /** Or what the worker calls. */
    url: z
      .string()
      .superRefine((value, context) => {
        const message = value.startsWith('${') ? null : wrongAddress(value.replace(VARIABLE, PLACEHOLDER));
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional(),
    headers: z
      .record(
        z.string().regex(HEADER, 'the name of a header is expected'),
        z.string().regex(/^[^\r\n\0]*$/, 'one line is expected'),
      )
      .optional(),
    /** Globs of the names of its tools: those that are taken, and those that only read. */
    tools: z.array(glob).default(['*']),
    readOnly: z.array(glob).default([]),
    approval: z.enum(['task', 'always']).optional(),
    default: z.boolean().default(false),
    required: z.boolean().default(false),
    /** Slugs. Absent: all workspaces. */
    workspaces: z.array(z.string().min(1)).optional(),
    timeoutSeconds: z.int().min(1).max(600).default(60),
  })
  .superRefine((given, context) => {
    const wrong = (message: string, path: string[] = []) => context.addIssue({ code: 'custom', message, path });
    if ((given.command === undefined) === (given.url === undefined))
      wrong('exactly one of command and url is expected');
    const ofOther =
      given.url === undefined ? (['headers'] as const) : (['args', 'env', 'network', 'memoryBytes'] as const);
    for (const field of ofOther) {
      if (given[field] !== undefined)
        wrong(`it goes with ${given.url === undefined ? 'url' : 'command'} alone`, [field]);
    }
    for (const name of variablesIn(given)) {
      if (NEVER.includes(name)) wrong(`\${${name}} is not handed to anybody`);
    }
  });

export const NAME_RULE = 'small letters, digits and - are expected, at most 20, a letter first';
export const mcpServersSchema = z
  .record(z.string(), server)
  .superRefine((all, context) => {
    const wrong = Object.keys(all).filter((name) => !SERVER_NAME.test(name));
    for (const name of wrong) context.addIssue({ code: 'custom', message: NAME_RULE, path: [name] });
  })
  .refine((all) => Object.keys(all).length <= SERVERS, `at most ${SERVERS} servers are expected`)
  .refine((all) => mostDefaults(Object.values(all)) <= MOST_SERVERS, {
    message: `at most ${MOST_SERVERS} servers that a workspace has by default are expected`,
  });

type Given = z.output<typeof server>;

/** What holds for programs and for addresses. */
interface Common extends Pick<
  Given,
  'description' | 'tools' | 'readOnly' | 'default' | 'required' | 'workspaces' | 'timeoutSeconds'
> {
  name: string;
  /** What decides before a call that may change something: the approvals of the task, or a person in every task. */
  approval: 'task' | 'always';
}
export interface McpProgram extends Common {
  kind: 'program';
  command: string;
  args: string[];
  env: Record<string, string>;
  network: boolean;
  memoryBytes: number;
}
export interface McpAddress extends Common {
  kind: 'url';
  /** Both may have `${NAME}` for a variable of the service. */
  url: string;
  headers: Record<string, string>;
}
export type McpServerConfig = McpProgram | McpAddress;

/** By name. @param memoryBytes that a command may have. */
export function mcpServersOf(
  given: z.output<typeof mcpServersSchema> | undefined,
  memoryBytes: number,
): McpServerConfig[] {
  const all = Object.entries(given ?? {}).map(([name, { approval, ...one }]): McpServerConfig => {
    const { command, args = [], env = {}, network = false, url, headers = {}, ...common } = one;
    if (url !== undefined) return { ...common, name, kind: 'url', url, headers, approval: approval ?? 'always' };
    const memory = one.memoryBytes ?? Math.min(MEMORY, memoryBytes);
    const program = { command: command ?? '', args, env, network, memoryBytes: memory };
    return { ...common, ...program, name, kind: 'program', approval: approval ?? 'task' };
  });
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the variables that the servers need. */
export function mcpVariables(all: Record<string, Given> | undefined): string[] {
  return [...new Set(Object.values(all ?? {}).flatMap(variablesIn))];
}

/** The text with the values of variables. */
export function expanded(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
}

function variablesIn({ url = '', headers = {} }: Pick<Given, 'url' | 'headers'>): string[] {
  const texts = [url, ...Object.values(headers)];
  return texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name = '']) => name));
}

/** Null: it can be called. */
function wrongAddress(value: string): string | null {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    return 'a URL that begins with http:// or https:// is expected';
  const { username, password } = new URL(value);
  if (username === '' && password === '') return null;
  return 'a URL without a user and a password is expected: what it asks for goes into headers';
}

/** What is wrong with a server once its variables have their values, which it does not repeat. Null: nothing. */
export function wrongServer(
  given: z.output<typeof mcpServersSchema> | undefined,
  values: ReadonlyMap<string, string>,
): string | null {
  for (const [name, { url, headers = {} }] of Object.entries(given ?? {})) {
    const filled = 'with the values of its variables';
    const address = url === undefined ? null : wrongAddress(expanded(url, values));
    if (address !== null) return `mcpServers.${name}.url, ${filled}: ${address}`;
    const header = Object.entries(headers).find(([, value]) => !HEADER_VALUE.test(expanded(value, values)));
    if (header !== undefined)
      return `mcpServers.${name}.headers.${header[0]}, ${filled}: one line of Latin characters is expected`;
  }
  return null;
}

/** How many one workspace has by default at the most. */
function mostDefaults(all: Given[]): number {
  const usual = all.filter((one) => one.default);
  const slugs = new Set(usual.flatMap(({ workspaces = [] }) => workspaces));
  const of = (slug: string | null) =>
    usual.filter(({ workspaces }) => workspaces === undefined || (slug !== null && workspaces.includes(slug))).length;
  return Math.max(of(null), ...[...slugs].map(of));
}
