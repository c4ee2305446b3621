// Agent programs that drive tasks in place of the built-in loop (reference §30): `engines` of CONFIG_FILE.
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { NAME_RULE, SERVER_NAME } from './mcp-servers.js';

/** The APIs of models that an engine may speak. */
export const WIRES = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;
export type WireName = (typeof WIRES)[number];

const ENGINES = 32;
const MEMORY = 2 * 1024 ** 3;

const words = z.string().refine((text) => !text.includes('\0'), 'a text without NUL is expected');
const toolNames = z.array(z.string().min(1).max(128)).default([]);

const engine = z.strictObject({
  /** A folder of this machine, which every command sees at `/opt/engines/<name>`. */
  path: z.string().refine(isAbsolute, 'an absolute path of a folder is expected'),
  /** The program and its arguments, without a shell. `{path}` and `{url}` are filled in here, in `env` and in `prepare`. */
  command: z.tuple([words.min(1)], words),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable is expected'), words).default({}),
  /** A shell command that runs before each start. */
  prepare: words.optional(),
  wire: z.enum(WIRES),
  /** Names of its tools that no model is offered. */
  hide: toolNames,
  /** Tools that the model's provider runs itself, and that stay in requests all the same. */
  providerTools: toolNames,
  /** Names of its tools that only read: no approval is asked for them. */
  reads: toolNames,
  /** Of the box of the program. It may be more than what a command may have. */
  memoryBytes: z.int().positive().default(MEMORY),
  startSeconds: z.int().min(1).max(600).default(60),
  /** Runs of it at once in one worker. */
  concurrency: z.int().min(1).max(1000).default(4),
});

export const enginesSchema = z
  .record(z.string(), engine)
  .superRefine((all, context) => {
    const wrong = Object.keys(all).filter((name) => !SERVER_NAME.test(name));
    for (const name of wrong) context.addIssue({ code: 'custom', message: NAME_RULE, path: [name] });
  })
  .refine((all) => Object.keys(all).length <= ENGINES, `at most ${ENGINES} engines are expected`);

type Given = z.output<typeof enginesSchema>;

/** One agent program, as the operator describes it. */
export interface EngineConfig extends z.output<typeof engine> {
  name: string;
}

/** All of them, by name. */
export function enginesOf(given: Given = {}): EngineConfig[] {
  const all = Object.entries(given).map(([name, one]) => ({ ...one, name }));
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a model says of its engine. */
interface ModelOfEngine {
  id: string;
  provider: string;
  engine?: string | undefined;
  wires: readonly WireName[];
  fallback: string | null;
}

/** Why a model and its engine do not go together, with the field that says so; null: they do. */
export function wrongEngine(
  model: ModelOfEngine,
  engines: Given = {},
  models: readonly ModelOfEngine[] = [],
): { field: 'engine' | 'wires' | 'fallback'; message: string } | null {
  if (model.wires.length > 0 && model.provider !== 'openai-compatible')
    return { field: 'wires', message: "it goes with the provider 'openai-compatible' alone" };
  const fallback = models.find(({ id }) => id === model.fallback);
  if (fallback !== undefined && fallback.engine !== model.engine) {
    const message = `'${fallback.id}' cannot be its fallback: it is driven by ${driverOf(fallback)}, and this model by ${driverOf(model)}`;
    return { field: 'fallback', message };
  }
  if (model.engine === undefined) return null;
  const of = Object.hasOwn(engines, model.engine) ? engines[model.engine] : undefined;
  if (of === undefined) {
    const names = Object.keys(engines).join(', ') || 'none';
    return { field: 'engine', message: `there is no engine '${model.engine}'; engines has: ${names}` };
  }
  const spoken = wiresOf(model);
  if (spoken.includes(of.wire)) return null;
  const speaks = spoken.length === 0 ? 'none of the wires of engines' : spoken.join(' and ');
  const more =
    model.provider === 'openai-compatible' ? '; it speaks openai-responses where wires has ["openai-responses"]' : '';
  const message = `the engine '${model.engine}' speaks ${of.wire}, and the provider '${model.provider}' speaks ${speaks}${more}`;
  return { field: 'engine', message };
}

/** The wires that a model's provider speaks. */
function wiresOf({ provider, wires }: ModelOfEngine): readonly WireName[] {
  if (provider === 'openai') return ['openai-chat', 'openai-responses'];
  if (provider === 'openai-compatible') return ['openai-chat', ...wires];
  return provider === 'anthropic' ? ['anthropic-messages'] : [];
}

const driverOf = ({ engine }: ModelOfEngine) => (engine === undefined ? 'AGENT_ENGINE' : `the engine '${engine}'`);
