// The only reader of process.env. Everything else is given an `Env`.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { findAuthorities } from './authorities.js';
import { configFileSchema, type ConfigFile, type FurtherConfig } from './config-file.js';
import { mcpVariables, wrongServer } from './mcp-servers.js';
import type { PaymentSecrets } from './payment.js';
import { isCidr } from '../egress/networks.js';
import { isDecodable } from '../http/request.js';
import { PLANS } from './rate-limits.js';

const empty = (value: unknown): unknown => (value === '' ? undefined : value);
const optional = <T extends z.ZodType>(schema: T) => z.preprocess(empty, schema.optional());
const digitsOf = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : empty(value);
const integer = (min: number, max: number, fallback: number) =>
  z.preprocess(digitsOf, z.int(`a whole number from ${min} to ${max}`).min(min).max(max).default(fallback));
const optionalInteger = (min: number, max: number) =>
  z.preprocess(digitsOf, z.int(`a whole number from ${min} to ${max}`).min(min).max(max).optional());
const url = (...schemes: string[]) =>
  z.string().refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)), {
    message: `a URL that begins with ${schemes.map((s) => `${s}://`).join(' or ')}`,
  });
const httpUrl = url('http', 'https').transform((value) => value.replace(/\/+$/, ''));
const httpOrigin = httpUrl.refine((value) => URL.canParse(value) && new URL(value).origin === value, {
  message: 'an origin such as https://millwright.example, without a path',
});
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `one of ${values.join(', ')}` });

const listOf = (text: string) => text.split(',').map((one) => one.trim());
/** One address, without a name. */
const ADDRESS = /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/;
const REGION = /^[a-z0-9-]{1,40}$/;
/** Below which objects lie. It begins with no "/", which would be a name without letters. */
const S3_PREFIX = /^(?:[\w.-]+\/)*[\w.-]+\/?$/;
const NETWORKS = 'a list of networks such as 10.0.0.0/8,fd00::/8';

const secret = optional(z.string().refine((v) => Buffer.byteLength(v) >= 32, 'a value of at least 32 bytes'));

// In the order of `.env.example`; a spec compares the two.
const schema = z.object({
  NODE_ENV: optional(z.string()),
  PORT: integer(0, 65_535, 3000),
  HOST: z.preprocess(empty, z.string().default('127.0.0.1')),
  PUBLIC_URL: optional(httpOrigin),
  DATA_DIR: optional(z.string()),
  DATABASE_URL: optional(url('postgres', 'postgresql')),
  REDIS_URL: optional(url('redis', 'rediss')),
  ROLE: z.preprocess(empty, oneOf(['all', 'api', 'worker']).default('all')),
  STORAGE: z.preprocess(empty, z.string().default('local')),
  S3_BUCKET: optional(z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/, 'the name of a bucket')),
  S3_PREFIX: optional(
    z.string().regex(S3_PREFIX, 'a path such as millwright/, of letters, digits, ".", "_", "-" and "/"'),
  ),
  S3_REGION: optional(z.string().regex(REGION, 'a region such as eu-central-1')),
  S3_ENDPOINT: optional(httpOrigin),
  BILLING: z.preprocess(empty, z.string().default('operator')),
  SECRET_KEY: secret,
  SECRET_KEY_PREVIOUS: secret,
  WORKER_CONCURRENCY: integer(1, 1000, 16),
  STEPS_PER_TURN: integer(1, 100_000, 1000),
  AGENT_ENGINE: z.preprocess(empty, z.string().default('loop')),
  SANDBOX: z.preprocess(empty, z.string().default('auto')),
  LEASE_SECONDS: integer(2, 3600, 12),
  TRUST_PROXY: optional(z.string()),
  AUTH_FAILURES_PER_MINUTE: integer(1, 1_000_000, 300),
  HOOKS_PER_MINUTE: integer(1, 1_000_000, 600),
  MAX_CONNECTIONS: optionalInteger(2, 10_000_000),
  CONSOLE: z.preprocess(empty, oneOf(['on', 'off']).default('on')),
  METRICS_PORT: optionalInteger(1, 65_535),
  MAX_UPLOAD_BYTES: integer(1, Number.MAX_SAFE_INTEGER, 100 * 1024 * 1024),
  DISK_RESERVE_BYTES: optionalInteger(0, Number.MAX_SAFE_INTEGER),
  DEFAULT_PLAN: z.preprocess(empty, oneOf(PLANS).default('paid')),
  CATCHUP_WINDOW_SECONDS: integer(0, 10 * 366 * 86_400, 3600),
  INTERACTION_TTL_SECONDS: integer(1, 10 * 366 * 86_400, 7 * 86_400),
  SNAPSHOT_SECONDS: integer(0, 86_400, 30),
  EVENT_RETENTION_DAYS: integer(1, 3650, 30),
  MAX_STREAMS: integer(1, 1_000_000, 2000),
  WEBHOOK_NETWORKS: optional(
    z
      .string()
      .transform(listOf)
      .refine((all) => all.every(isCidr), NETWORKS),
  ),
  SMTP_URL: optional(
    url('smtps', 'smtp').refine(
      (value) => URL.canParse(value) && new URL(value).hostname !== '' && isDecodable(value),
      {
        message: 'a URL with a host, such as smtps://mail.example, with %25 for a %',
      },
    ),
  ),
  SMTP_FROM: optional(z.string().refine((value) => ADDRESS.test(value), 'an address such as millwright@example.com')),
  AUDIT_DAYS: integer(1, 36_500, 365),
  LOG_LEVEL: z.preprocess(empty, oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional()),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
  OTEL_SERVICE_NAME: z.preprocess(empty, z.string().max(200).default('millwright')),
  CONFIG_FILE: optional(z.string()),
  ANTHROPIC_API_KEY: optional(z.string()),
  OPENAI_API_KEY: optional(z.string()),
  GOOGLE_GENERATIVE_AI_API_KEY: optional(z.string()),
  OPENAI_COMPATIBLE_URL: optional(httpUrl),
  OPENAI_COMPATIBLE_KEY: optional(z.string()),
  OPENAI_COMPATIBLE_MODEL: optional(z.string()),
  ANTHROPIC_MODEL: optional(z.string()),
  OPENAI_MODEL: optional(z.string()),
  GOOGLE_MODEL: optional(z.string()),
  AWS_REGION: optional(z.string().regex(REGION, 'a region such as eu-central-1')),
  AWS_BEARER_TOKEN_BEDROCK: optional(z.string()),
  AWS_ACCESS_KEY_ID: optional(z.string()),
  AWS_SECRET_ACCESS_KEY: optional(z.string()),
  AWS_SESSION_TOKEN: optional(z.string()),
});

/** Names of the variables, in the order of `.env.example` (NODE_ENV is the platform's, not ours). */
export const ENV_NAMES = Object.keys(schema.shape).filter((name) => name !== 'NODE_ENV');

type Variables = z.output<typeof schema>;
type Source = Record<string, string | undefined>;

/** A model's name without its provider would be ignored without a word. */
const NEEDED = [
  ['ANTHROPIC_MODEL', 'ANTHROPIC_API_KEY'],
  ['OPENAI_MODEL', 'OPENAI_API_KEY'],
  ['GOOGLE_MODEL', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['OPENAI_COMPATIBLE_MODEL', 'OPENAI_COMPATIBLE_URL'],
  ['OPENAI_COMPATIBLE_KEY', 'OPENAI_COMPATIBLE_URL'],
] as const satisfies [keyof Variables, keyof Variables][];

/** The configuration of one process, checked. A class, so that it is its own injection token. */
export class Env {
  constructor(
    readonly variables: Variables,
    readonly file: ConfigFile,
    /** Values of `apiKeyEnv` of the configuration file: variable name → key. */
    readonly modelKeys: ReadonlyMap<string, string>,
    /** Values of `tokenEnv` of `repositories`: variable name → token. */
    readonly repositoryTokens: ReadonlyMap<string, string> = new Map(),
    /** Values of `${NAME}` in `mcpServers`, where tasks run. */
    readonly mcpValues: ReadonlyMap<string, string> = new Map(),
    /** Of `billing`; null without it. */
    readonly paymentSecrets: PaymentSecrets | null = null,
    /** The value of `clientSecretEnv` of `signIn`, where the console is; null without. */
    readonly signInSecret: string | null = null,
  ) {}

  get test(): boolean {
    return this.variables.NODE_ENV === 'test';
  }
  get runsWork(): boolean {
    return this.variables.ROLE !== 'api';
  }
  get servesApi(): boolean {
    return this.variables.ROLE !== 'worker';
  }
  /** Whether people find the console here (reference §20). */
  get servesConsole(): boolean {
    return this.servesApi && this.variables.CONSOLE === 'on';
  }
}

/** Variables of this process that a program which it starts may have: those whose names fit. */
export function variablesFor(names: RegExp): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** A value that cannot be used: the message names the variable and the accepted form, one line each. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads and checks an environment (default: this process's). Throws {@link ConfigurationError}.
 * @param further what extensions add to CONFIG_FILE.
 */
export function readEnv(source: Source = process.env, further?: FurtherConfig): Env {
  const parsed = schema.safeParse(source);
  if (!parsed.success) {
    throw new ConfigurationError(
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message} is expected.`).join('\n'),
    );
  }
  const variables = parsed.data;
  if (variables.DATABASE_URL !== undefined && variables.SECRET_KEY === undefined) {
    throw new ConfigurationError('SECRET_KEY: at least 32 bytes are expected when DATABASE_URL is set.');
  }
  const { SECRET_KEY, SECRET_KEY_PREVIOUS } = variables;
  if (SECRET_KEY_PREVIOUS !== undefined && (SECRET_KEY === undefined || SECRET_KEY === SECRET_KEY_PREVIOUS)) {
    throw new ConfigurationError('SECRET_KEY: another value than that of SECRET_KEY_PREVIOUS is expected.');
  }
  for (const [name, needed] of NEEDED) {
    if (variables[name] === undefined || variables[needed] !== undefined) continue;
    throw new ConfigurationError(
      `${needed}: a value is expected when ${name} is set; without it there is no such model.`,
    );
  }
  if (variables.STORAGE === 's3' && variables.S3_BUCKET === undefined) {
    throw new ConfigurationError('S3_BUCKET: the name of a bucket is expected when STORAGE is s3.');
  }
  if ((variables.SMTP_URL === undefined) !== (variables.SMTP_FROM === undefined)) {
    const [missing, set] = variables.SMTP_URL === undefined ? ['SMTP_URL', 'SMTP_FROM'] : ['SMTP_FROM', 'SMTP_URL'];
    throw new ConfigurationError(`${missing}: a value is expected when ${set} is set.`);
  }
  const given = variables.CONFIG_FILE === undefined ? {} : readConfigFile(resolve(variables.CONFIG_FILE));
  const file = checkConfigFile(given, further);
  const modelKeys = named('apiKeyEnv', 'a key', file.models ?? [], source);
  const repositoryTokens = named('tokenEnv', 'a token', Object.values(file.repositories ?? {}), source);
  // Only where there are sandboxes: an `api` elsewhere need not have them.
  const runsWork = variables.ROLE !== 'api';
  const needed = runsWork ? mcpVariables(file.mcpServers) : [];
  const mcpValues = valuesOf(needed, 'a value', 'CONFIG_FILE has it in mcpServers', source);
  const paymentSecrets = paymentSecretsOf(variables, file, source);
  // Only where people sign in.
  const signsIn = variables.ROLE !== 'worker' && variables.CONSOLE === 'on';
  const signIns = signsIn && file.signIn ? [file.signIn] : [];
  const [signInSecret = null] = named('clientSecretEnv', 'the secret of the client', signIns, source).values();
  const env = new Env(variables, file, modelKeys, repositoryTokens, mcpValues, paymentSecrets, signInSecret);
  if (runsWork) {
    const wrong = wrongServer(file.mcpServers, mcpValues);
    if (wrong !== null) throw new ConfigurationError(`CONFIG_FILE, ${wrong}.`);
    checkAuthorities(file.sandbox?.caFile);
    for (const path of file.sandbox?.programs ?? []) checkFolder('sandbox.programs', path);
    for (const [name, { path }] of Object.entries(file.engines ?? {})) checkFolder(`engines.${name}.path`, path);
  }
  return env;
}

function checkFolder(field: string, path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new ConfigurationError(`CONFIG_FILE, ${field}: a folder is expected at ${path}.`);
}

function checkAuthorities(path: string | undefined): void {
  try {
    if (path !== undefined) findAuthorities(path);
  } catch (error) {
    throw new ConfigurationError(
      `CONFIG_FILE, sandbox.caFile: a readable file with certificates (PEM) is expected at ${path} (${(error as Error).message}).`,
    );
  }
}

function paymentSecretsOf({ BILLING }: Variables, { billing }: ConfigFile, source: Source): PaymentSecrets | null {
  if (billing === undefined) return null;
  if (BILLING !== 'operator') {
    throw new ConfigurationError(
      `BILLING: no value is expected, because CONFIG_FILE has billing by ${billing.provider}.`,
    );
  }
  const secret = (field: 'secretKeyEnv' | 'webhookSecretEnv', what: string) =>
    valueOf(billing[field], what, `CONFIG_FILE names it as billing.${field}`, source);
  const secretKey = secret('secretKeyEnv', 'the secret key of the API');
  return { secretKey, webhookSecret: secret('webhookSecretEnv', 'the secret of the address for events') };
}

/** The values of the variables that entries of CONFIG_FILE name: a secret stands in the environment, never in the file. */
function named<Field extends string>(
  field: Field,
  what: string,
  entries: readonly { [name in Field]?: string | undefined }[],
  source: Source,
): Map<string, string> {
  const names = entries.flatMap(({ [field]: name }) => name ?? []);
  return valuesOf(names, what, `CONFIG_FILE names it as ${field}`, source);
}

function valuesOf(names: readonly string[], what: string, why: string, source: Source): Map<string, string> {
  const values = new Map<string, string>();
  for (const name of names) values.set(name, valueOf(name, what, why, source));
  return values;
}

function valueOf(name: string, what: string, why: string, source: Source): string {
  const value = source[name];
  if (!value) throw new ConfigurationError(`${name}: ${what} is expected, because ${why}.`);
  return value;
}

function readConfigFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigurationError(
      `CONFIG_FILE: a readable JSON file is expected at ${path} (${(error as Error).message}).`,
    );
  }
}

function checkConfigFile(json: unknown, further: FurtherConfig | undefined): ConfigFile {
  const parsed = configFileSchema(further).safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(
    parsed.error.issues
      .map((issue) => `CONFIG_FILE, ${issue.path.join('.') || 'top level'}: ${issue.message}`)
      .join('\n'),
  );
}
