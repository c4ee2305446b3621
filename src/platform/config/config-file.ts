import { basename, isAbsolute } from 'node:path';
import { z } from 'zod';
import { hasMicros } from '../money/usd.js';
import { enginesOf, enginesSchema, wrongEngine } from './engines.js';
import { mcpServersOf, mcpServersSchema } from './mcp-servers.js';
import { hostsFitNetwork, networkShape } from './network.js';
import { paymentSchema } from './payment.js';
import { mergedPlans, type PlanConfig, plansSchema } from './plans.js';
import { networksSchema, repositoriesSchema, repositoryFilesSchema } from './repositories.js';
import { type FurtherPolicies, mergedRates, type Plan, type RateLimits, rateLimitsSchema } from './rate-limits.js';
import { signInSchema } from './sign-in.js';
import { webSchema } from './web.js';

const effort = z.enum(['low', 'medium', 'high']);

/** At this price the most tokens that a call can count cost less than 2^53 micro-dollars, in and out together. */
const MOST_PRICE = 4000;
const price = z
  .number()
  .min(0)
  .max(MOST_PRICE)
  .refine(hasMicros, 'USD for a million tokens are expected, with at most 6 decimals');

const model = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, 'letters, digits and . _ : - are expected, at most 100'),
  name: z.string().min(1).max(200).optional(),
  description: z.string().max(2000).default(''),
  default: z.boolean().default(false),
  provider: z.string().min(1),
  model: z.string().min(1).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKeyEnv: z.string().min(1).optional(),
  contextWindow: z.int().positive().nullable().default(null),
  input: z.array(z.enum(['text', 'image', 'file'])).default(['text']),
  efforts: z.array(effort).default([]),
  defaultEffort: effort.nullable().default(null),
  /** USD for a million tokens. Without `cachedInput` cached tokens cost what others do. */
  prices: z.strictObject({ input: price, cachedInput: price.optional(), output: price }).optional(),
  /** The id of the model that is called when this one cannot be. */
  fallback: z.string().min(1).nullable().default(null),
  /** The name of the engine that drives its tasks (reference §30); absent: that of `AGENT_ENGINE`. */
  engine: z.string().min(1).optional(),
  /** What its server speaks beside what every `openai-compatible` one speaks. */
  wires: z.array(z.enum(['openai-responses'])).default([]),
});
type Model = z.output<typeof model>;

/** Why the fallbacks of the models lead nowhere; null when each names another model, and none comes back to where it began. */
function wrongFallback(models: readonly Model[]): string | null {
  const next = new Map(models.map(({ id, fallback }) => [id, fallback]));
  for (const { id } of models) {
    const seen = new Set<string>();
    for (let at: string | null = id; at !== null; at = next.get(at) ?? null) {
      if (!next.has(at)) return `the fallback '${at}' is not the id of a model`;
      if (seen.has(at)) return `the fallbacks of the model '${id}' go round in a circle`;
      seen.add(at);
    }
  }
  return null;
}

const TRANSPARENCY_DEFAULT = {
  text: true,
  reasoning: true,
  tool_activity: true,
  files: false,
  url_sources: false,
  document_sources: false,
  reasoning_files: false,
  data: false,
  custom: false,
  step_boundaries: false,
};

/** The ten kinds of parts that a policy may expose, in the order of the documentation. */
export const EXPOSABLE = Object.keys(TRANSPARENCY_DEFAULT) as (keyof Transparency)[];

const transparency = z.strictObject(
  Object.fromEntries(EXPOSABLE.map((kind) => [kind, z.boolean().optional()])) as Record<
    keyof Transparency,
    z.ZodOptional<z.ZodBoolean>
  >,
);

const positive = z.int().positive();
/** By the name of a tool and its version a folder of this machine: `{"node": {"22": "/opt/node-22"}}`. */
const tools = z.record(
  z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'small letters, digits and - are expected, at most 32'),
  z.record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/, 'letters, digits and . _ - are expected, at most 32'),
    z.string().refine(isAbsolute, 'an absolute path of a folder is expected'),
  ),
);
/** Folders of this machine, which every command sees at `/opt/programs/<last name>`. */
const programs = z
  .array(
    z
      .string()
      .refine(isAbsolute, 'an absolute path of a folder is expected')
      .refine(
        (path) => /^[A-Za-z0-9_][\w.+-]*$/.test(basename(path)),
        'a folder with a name of letters, digits and . _ + - is expected',
      ),
  )
  .refine(
    (all) => new Set(all.map((path) => basename(path))).size === all.length,
    'each folder needs a last name of its own',
  );
const sandbox = z
  .strictObject({
    ...networkShape,
    wallClockSeconds: positive.optional(),
    memoryBytes: positive.optional(),
    processes: positive.optional(),
    diskBytes: positive.optional(),
    outputBytes: positive.optional(),
    /** What environments may ask for (reference §25). */
    tools: tools.optional(),
    /** What servers of `mcpServers` are started from (reference §28). */
    programs: programs.optional(),
  })
  .superRefine(hostsFitNetwork);

/** What extensions add to `CONFIG_FILE`: rate-limit policies, and a section for each name in `extensions`. */
export interface FurtherConfig {
  policies: FurtherPolicies;
  sections: Readonly<Record<string, z.ZodObject>>;
}

/** `CONFIG_FILE` (reference §16). Every part optional, unknown keys refused. */
export function configFileSchema({ policies, sections }: FurtherConfig = { policies: {}, sections: {} }) {
  const schema = z.strictObject({
    models: z
      .array(model)
      .min(1)
      .refine((all) => new Set(all.map((m) => m.id)).size === all.length, 'every model needs an id of its own')
      .refine((all) => all.filter((m) => m.default).length <= 1, 'at most one model can be the default')
      .superRefine((all, context) => {
        const message = wrongFallback(all);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional(),
    rateLimits: rateLimitsSchema(policies).optional(),
    plans: plansSchema.optional(),
    transparency: transparency.optional(),
    titles: z.boolean().optional(),
    sandbox: sandbox.optional(),
    repositories: repositoriesSchema.optional(),
    repositoryNetworks: networksSchema.optional(),
    repositoryFiles: repositoryFilesSchema.optional(),
    web: webSchema.optional(),
    mcpServers: mcpServersSchema.optional(),
    engines: enginesSchema.optional(),
    billing: paymentSchema.optional(),
    signIn: signInSchema.optional(),
    extensions: sectionsSchema(sections),
  });
  return schema.superRefine((file, context) => {
    const { memoryBytes } = sandboxLimitsOf(file);
    for (const [name, one] of Object.entries(file.mcpServers ?? {})) {
      if ((one.memoryBytes ?? 0) <= memoryBytes) continue;
      const message = `at most the memory of the sandbox is expected, ${memoryBytes}`;
      context.addIssue({ code: 'custom', message, path: ['mcpServers', name, 'memoryBytes'] });
    }
    for (const [index, one] of (file.models ?? []).entries()) {
      const wrong = wrongEngine(one, file.engines, file.models);
      if (wrong === null) continue;
      const message = `model '${one.id}': ${wrong.message}`;
      context.addIssue({ code: 'custom', message, path: ['models', index, wrong.field] });
    }
  });
}

type Sections = Record<string, unknown>;

/** A section that is absent counts as empty: its defaults hold, and what it must have is asked for. */
function sectionsSchema(sections: FurtherConfig['sections']): z.ZodOptional<z.ZodType<Sections, Sections>> {
  const shape = Object.entries(sections).map(([name, section]) => [name, section.prefault({})] as const);
  const schema = z.strictObject(Object.fromEntries(shape));
  // Without extensions there is nothing to fill in: the part stays as it is given.
  return (shape.length === 0 ? schema.optional() : schema.prefault({})) as z.ZodOptional<z.ZodType<Sections, Sections>>;
}

export type ConfigFile = z.output<ReturnType<typeof configFileSchema>>;
export type ModelConfig = Model;
export type Transparency = typeof TRANSPARENCY_DEFAULT;

/** Which kinds of message parts are exposed (reference §6): the given ones replace the defaults key by key. */
export function transparencyOf(file: ConfigFile): Transparency {
  return Object.assign({}, TRANSPARENCY_DEFAULT, file.transparency);
}

/** The policy that exposes these kinds and no others. */
export function transparencyWith(kinds: readonly string[]): Transparency {
  return Object.fromEntries(EXPOSABLE.map((kind) => [kind, kinds.includes(kind)])) as Transparency;
}

/** Limits of a sandbox (reference §16): the given ones replace the defaults key by key. */
export function sandboxLimitsOf(file: { sandbox?: z.output<typeof sandbox> | undefined }) {
  const {
    network: _network,
    allowHosts: _hosts,
    secretHosts: _secretHosts,
    allowNetworks: _networks,
    caFile: _file,
    tools: _tools,
    programs: _programs,
    ...given
  } = file.sandbox ?? {};
  const defaults = {
    wallClockSeconds: 600,
    memoryBytes: 2 * 1024 ** 3,
    processes: 256,
    diskBytes: 2 * 1024 ** 3,
    outputBytes: 10 * 1024 ** 2,
  };
  return Object.assign(defaults, given);
}

/** The servers whose tools tasks may have (reference §28), by name. */
export function mcpServersIn(file: ConfigFile) {
  return mcpServersOf(file.mcpServers, sandboxLimitsOf(file).memoryBytes);
}

/** The agent programs that models may be driven by (reference §30), by name. */
export function enginesIn(file: ConfigFile) {
  return enginesOf(file.engines);
}

/** Rate limits (reference §9): the given ones replace the defaults key by key. */
export function rateLimitsOf(file: ConfigFile, policies?: FurtherPolicies): RateLimits {
  return mergedRates(file.rateLimits, policies);
}

/** What the plans allow (reference §14): the given keys replace the defaults one by one. */
export function plansOf(file: ConfigFile): Record<Plan, PlanConfig> {
  return mergedPlans(file.plans);
}
