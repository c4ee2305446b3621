// The extensions of one process, together: what they add to the names of the service. A name that is taken stops the boot.
import type { ValueProvider } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import type { FurtherConfig } from '../config/config-file.js';
import { ConfigurationError, type Env } from '../config/env.js';
import { type FurtherPolicies, type Plan, rateLimitsSchema } from '../config/rate-limits.js';
import type { EntityClass } from '../database/database.module.js';
import type { MigrationSet } from '../database/migrate.js';
import { PostgresNaming } from '../database/naming.js';
import { EVENT_KINDS, EVENT_TYPES } from '../events/event-types.js';
import { ERRORS, EXTENSION_STATUSES, type ExtensionError } from '../http/api-error.js';
import { POLICIES, type Scope, SCOPES } from '../http/endpoint.js';
import type { Extension, ExtensionEvent } from './extension.js';

const SERVICE = 'Millwright';
/** The groups of verbs of the service, in the order of its help. The verbs are above this layer; a test compares the two. */
export const VERB_GROUPS: readonly string[] = [
  'workspace',
  'user',
  'member',
  'service-account',
  'key',
  'console',
  'integration',
  'automation',
  'machine',
  'audit',
  'storage',
  'secret',
  'secret-key',
  'signing-key',
  'scim-token',
  'engine',
  'backup',
  'restore',
  'doctor',
  'adopt',
  'completion',
];

/** A type of events, and what a key needs to be told of it beside `tasks:read`. */
export interface KnownEvent {
  readonly type: string;
  readonly webhook: boolean;
  readonly scope: Scope | null;
}

/** Throws {@link ConfigurationError} when a name is taken or malformed. Its own injection token. */
export class ExtensionSet implements FurtherConfig {
  /** All scopes that exist, those of the service first. */
  readonly scopes: readonly Scope[];
  readonly policies: FurtherPolicies;
  /** The schemas of `extensions` in CONFIG_FILE. */
  readonly sections: FurtherConfig['sections'];
  readonly errors: readonly ExtensionError[];
  /** All types of events that the log of a workspace has, those of the service first. */
  readonly events: readonly KnownEvent[];
  readonly migrations: readonly MigrationSet[];

  constructor(readonly list: readonly Extension[]) {
    checkNames(list);
    this.scopes = [...SCOPES, ...list.flatMap(({ scopes = [] }) => scopes)];
    this.policies = Object.assign({}, ...list.map(({ policies }) => policies)) as FurtherPolicies;
    const sections = list.flatMap(({ name, config }) => (config === undefined ? [] : [[name, config.schema] as const]));
    this.sections = Object.fromEntries(sections);
    this.errors = list.flatMap(({ errors = [] }) => errors);
    this.events = [...EVENT_TYPES.map(ownEvent), ...list.flatMap(eventsOf)];
    this.migrations = list.flatMap(({ name, migrations = [] }) =>
      migrations.length === 0 ? [] : [{ table: `migrations_${name.replaceAll('-', '_')}`, migrations }],
    );
  }

  /** The types of events of the extensions. */
  get describedEvents(): ExtensionEvent[] {
    return this.list.flatMap(({ events = [] }) => events);
  }

  get modules(): Extension['module'][] {
    return this.list.map(({ module }) => module);
  }

  /** For the operator command. */
  get operatorModules(): Extension['module'][] {
    return this.list.flatMap(({ operatorModule }) => operatorModule ?? []);
  }

  /** Those of the service and those of the extensions. Throws {@link ConfigurationError} when two have one table. */
  entitiesBeside(ours: readonly EntityClass[]): EntityClass[] {
    const tables = new Names('table', ours.map(tableOf));
    for (const { name, entities = [] } of this.list) for (const entity of entities) tables.claim(tableOf(entity), name);
    return [...ours, ...this.list.flatMap(({ entities = [] }) => entities)];
  }

  /** This set, and each section of the configuration as an instance of its class. */
  providers({ file }: Env): ValueProvider[] {
    const sections = this.list.flatMap(({ name, config: Section }) =>
      Section === undefined
        ? []
        : [{ provide: Section, useValue: Object.assign(new Section(), file.extensions?.[name]) }],
    );
    return [{ provide: ExtensionSet, useValue: this }, ...sections];
  }
}

function ownEvent(type: string): KnownEvent {
  return { type, webhook: true, scope: type.startsWith('automation.') ? 'automations:read' : null };
}

function eventsOf({ name, events = [], scopes = [] }: Extension): KnownEvent[] {
  const scope = scopes.find((one) => one === `${name}:read`) ?? null;
  return events.map(({ type, webhook = false }) => ({ type, webhook, scope }));
}

/** The names of one kind, each with its owner. */
class Names {
  private readonly owners = new Map<string, string>();

  constructor(
    private readonly kind: string,
    ours: readonly string[] = [],
  ) {
    for (const name of ours) this.owners.set(name, SERVICE);
  }

  claim(name: string, extension: string): void {
    const owner = this.owners.get(name);
    if (owner !== undefined) {
      const first = owner === SERVICE ? owner : `the extension '${owner}'`;
      throw new ConfigurationError(
        `src/extensions.ts: the ${this.kind} '${name}' is brought by ${first} and by the extension '${extension}'; rename one.`,
      );
    }
    this.owners.set(name, extension);
  }
}

function checkNames(list: readonly Extension[]): void {
  const extensions = new Set<string>();
  const scopes = new Names('scope', SCOPES);
  const policies = new Names('rate-limit policy', [...POLICIES, 'global', 'address', 'hook']);
  const errors = new Names('error code', Object.keys(ERRORS));
  // Commander has a group of its own: `help`.
  const groups = new Names('group of verbs', [...VERB_GROUPS, 'help']);
  const events = new Names('kind of events', EVENT_KINDS);
  for (const extension of list) {
    const { name } = extension;
    if (extensions.has(name)) {
      throw new ConfigurationError(`src/extensions.ts: two extensions are called '${name}'; rename one.`);
    }
    extensions.add(name);
    const problem = problemOf(extension);
    if (problem !== undefined) throw new ConfigurationError(`src/extensions.ts: the extension '${name}' ${problem}`);
    for (const scope of extension.scopes ?? []) scopes.claim(scope, name);
    for (const policy of Object.keys(extension.policies ?? {})) policies.claim(policy, name);
    for (const { code } of extension.errors ?? []) errors.claim(code, name);
    if (Object.keys(extension.commands ?? {}).length > 0) groups.claim(name, name);
    if ((extension.events ?? []).length > 0) events.claim(name, name);
  }
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
/** A verb is given one argument: of a usage with two, the second would be lost. */
const USAGE = /^[a-z][a-z0-9-]*( (<[\w-]+>|\[[\w-]+\]))?$/;

/** What is wrong with an extension by itself, as the end of a sentence. */
function problemOf(extension: Extension): string | undefined {
  const { name, scopes = [], policies = {}, errors = [], commands = {} } = extension;
  if (!NAME.test(name))
    return 'needs a name of small letters, digits and hyphens that begins with a letter, at most 40.';
  const scope = scopes.find((one) => one !== `${name}:read` && one !== `${name}:write`);
  if (scope !== undefined) return `brings the scope '${scope}'; its scopes are '${name}:read' and '${name}:write'.`;
  const policy = Object.keys(policies).find((one) => !SNAKE_CASE.test(one));
  if (policy !== undefined) return `brings the rate-limit policy '${policy}'; a name in snake_case is expected.`;
  const rates = rateProblem(policies);
  if (rates !== undefined) return `brings a rate-limit policy that cannot be: ${rates}.`;
  const code = errors.find((one) => !SNAKE_CASE.test(one.code));
  if (code !== undefined) return `brings the error code '${code.code}'; a name in snake_case is expected.`;
  const error = errors.find(({ status }) => !EXTENSION_STATUSES.includes(status));
  if (error !== undefined)
    return `brings the error code '${error.code}' with the status ${error.status}; one of ${EXTENSION_STATUSES.join(', ')} is expected.`;
  return eventProblem(extension) ?? verbProblem(Object.keys(commands));
}

/** With the name of the extension in front, no type is another extension's. */
function eventProblem({ name, events = [] }: Extension): string | undefined {
  const types = events.map(({ type }) => type);
  const wrong = types.find((type) => !type.startsWith(`${name}.`) || !SNAKE_CASE.test(type.slice(name.length + 1)));
  if (wrong !== undefined)
    return `brings the event type '${wrong}'; '${name}.' and a word in snake_case are expected, such as '${name}.created'.`;
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  return twice === undefined ? undefined : `brings the event type '${twice}' twice; drop one.`;
}

function verbProblem(usages: string[]): string | undefined {
  const usage = usages.find((one) => !USAGE.test(one));
  if (usage !== undefined)
    return `brings the verb '${usage}'; a word and at most one argument are expected, such as 'show <id>' or 'list [slug]'.`;
  const words = usages.map((one) => one.split(' ')[0]);
  const twice = words.find((word, index) => words.indexOf(word) !== index);
  return twice === undefined ? undefined : `brings two verbs called '${twice}'; rename one.`;
}

function tableOf(entity: EntityClass): string {
  const given = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  return new PostgresNaming().tableName(entity.name, given?.name);
}

/** Defaults must be what CONFIG_FILE might say as well. */
function rateProblem(policies: FurtherPolicies): string | undefined {
  const given = (plan: Plan) => ({
    policies: Object.fromEntries(Object.entries(policies).map(([name, rates]) => [name, rates[plan]])),
  });
  const { error } = rateLimitsSchema(policies).safeParse({ free: given('free'), paid: given('paid') });
  const [issue] = error?.issues ?? [];
  return issue === undefined ? undefined : `${issue.path.join('.')}, ${issue.message}`;
}
