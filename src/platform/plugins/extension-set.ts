// The extensions of one process, together: what they add to the names of the service. A name that is taken stops the boot.
import type { ValueProvider } from '@nestjs/common';
import type { FurtherConfig } from '../config/config-file.js';
import { ConfigurationError, type Env } from '../config/env.js';
import { type FurtherPolicies, type Plan, rateLimitsSchema } from '../config/rate-limits.js';
import type { MigrationSet } from '../database/migrate.js';
import { ERRORS, EXTENSION_STATUSES, type ExtensionError } from '../http/api-error.js';
import { POLICIES, type Scope, SCOPES } from '../http/endpoint.js';
import type { Extension } from './extension.js';

const SERVICE = 'Millwright';

/** Throws {@link ConfigurationError} when a name is taken or malformed. Its own injection token. */
export class ExtensionSet implements FurtherConfig {
  /** All scopes that exist, those of the service first. */
  readonly scopes: readonly Scope[];
  readonly policies: FurtherPolicies;
  /** The schemas of `extensions` in CONFIG_FILE. */
  readonly sections: FurtherConfig['sections'];
  readonly errors: readonly ExtensionError[];
  readonly entities: readonly (new () => object)[];
  readonly migrations: readonly MigrationSet[];

  constructor(readonly list: readonly Extension[]) {
    checkNames(list);
    this.scopes = [...SCOPES, ...list.flatMap(({ scopes = [] }) => scopes)];
    this.policies = Object.assign({}, ...list.map(({ policies }) => policies)) as FurtherPolicies;
    const sections = list.flatMap(({ name, config }) => (config === undefined ? [] : [[name, config.schema] as const]));
    this.sections = Object.fromEntries(sections);
    this.errors = list.flatMap(({ errors = [] }) => errors);
    this.entities = list.flatMap(({ entities = [] }) => entities);
    this.migrations = list.flatMap(({ name, migrations = [] }) =>
      migrations.length === 0 ? [] : [{ table: `migrations_${name.replaceAll('-', '_')}`, migrations }],
    );
  }

  get modules(): Extension['module'][] {
    return this.list.map(({ module }) => module);
  }

  /** For the operator command. */
  get operatorModules(): Extension['module'][] {
    return this.list.flatMap(({ operatorModule }) => operatorModule ?? []);
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

/** Who has which name of a kind. */
class Names {
  private readonly owners = new Map<string, string>();

  constructor(
    private readonly kind: string,
    ours: readonly string[] = [],
  ) {
    for (const name of ours) this.owners.set(name, SERVICE);
  }

  take(name: string, extension: string): void {
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
  const policies = new Names('rate-limit policy', [...POLICIES, 'global', 'address']);
  const errors = new Names('error code', Object.keys(ERRORS));
  for (const extension of list) {
    const { name } = extension;
    if (extensions.has(name)) {
      throw new ConfigurationError(`src/extensions.ts: two extensions are called '${name}'; rename one.`);
    }
    extensions.add(name);
    const problem = problemOf(extension);
    if (problem !== undefined) throw new ConfigurationError(`src/extensions.ts: the extension '${name}' ${problem}`);
    for (const scope of extension.scopes ?? []) scopes.take(scope, name);
    for (const policy of Object.keys(extension.policies ?? {})) policies.take(policy, name);
    for (const { code } of extension.errors ?? []) errors.take(code, name);
  }
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** What is wrong with an extension by itself, as the end of a sentence. */
function problemOf({ name, scopes = [], policies = {}, errors = [] }: Extension): string | undefined {
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
  if (error === undefined) return undefined;
  return `brings the error code '${error.code}' with the status ${error.status}; one of ${EXTENSION_STATUSES.join(', ')} is expected.`;
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
