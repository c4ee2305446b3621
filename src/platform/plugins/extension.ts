// What an extension is: one object that says everything that it brings (docs/extending.md, docs/decisions/0020).
import type { DynamicModule, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { z } from 'zod';
import type { Plan, Rate } from '../config/rate-limits.js';
import type { ExtensionError } from '../http/api-error.js';
import type { ExtensionScope } from '../http/endpoint.js';
import type { Metrics } from '../metrics/metrics.js';

/** What an extension brings. All but the name and the module may be left out. */
export interface Extension {
  /** Small letters, digits and hyphens. Scopes, the section of CONFIG_FILE and the operator's group of verbs have it. */
  readonly name: string;
  /** An ordinary Nest module: its providers may carry `@Plugin`, its controllers carry `@Endpoint`. */
  readonly module: Type | DynamicModule;
  /**
   * The part of it without HTTP, which `module` imports and the operator command loads by itself: what its verbs ask,
   * and what registers for the end of a membership or workspace. It may inject what the operator command has:
   * the database, configuration, workspaces, users, memberships and keys.
   */
  readonly operatorModule?: Type | DynamicModule;
  /** Entities, with relations to those of the service where they are needed. */
  readonly entities?: readonly (new () => object)[];
  /** In the order in which they run, after those of the service. They are on record in a table of their own. */
  readonly migrations?: readonly (new () => MigrationInterface)[];
  /** The class that {@link configSection} has made: `extensions.<name>` of CONFIG_FILE is checked with it at boot. */
  readonly config?: { new (): object; readonly schema: z.ZodObject };
  /** `<name>:read`, `<name>:write`, or one of them. */
  readonly scopes?: readonly ExtensionScope[];
  /** Rate-limit policies by name, in snake_case, with their defaults. `rateLimits` of CONFIG_FILE may change them. */
  readonly policies?: Readonly<Record<string, Readonly<Record<Plan, Rate>>>>;
  /** Error codes that {@link errorCode} has made. */
  readonly errors?: readonly ExtensionError[];
  /** The types of the events that it writes by `EventLog.append`. */
  readonly events?: readonly ExtensionEvent[];
  /** Verbs of the operator command by usage: `list`, `show <id>` or `count [slug]`. They stand below the name of the extension. */
  readonly commands?: Readonly<Record<string, ExtensionCommand>>;
  /** Called once in each process of the service, when all modules are there: registers figures that are kept elsewhere. */
  readonly metrics?: (metrics: Metrics, services: ExtensionServices) => void;
}

/**
 * A type of events. `/v1/events` shows them to who sees the task of the event. Of an event without a task `data.projectId` and
 * `data.createdBy` decide, as the project and the creator of a task do; without both it is for owners and admins. Where the extension
 * brings the scope `<name>:read`, that is needed too.
 */
export interface ExtensionEvent {
  /** The name of the extension and one word in snake_case: `reviews.created`. */
  readonly type: string;
  /** What has happened, for the document: `A task was reviewed.` */
  readonly description: string;
  /** Whether a webhook may name it, and all of the extension by `<name>.*`. `*` is all that happens, whatever stands here. */
  readonly webhook?: boolean;
}

/** The providers of the running process, by class. */
export interface ExtensionServices {
  get<T>(token: Type<T>): T;
}

/** A verb of the operator command. */
export interface ExtensionCommand {
  /** What it does, for the help: `the reviews of a workspace`. */
  readonly description: string;
  /** Options that must be given, with what they mean: `{ '--workspace <slug>': 'which workspace' }`. */
  readonly required?: Readonly<Record<string, string>>;
  /** Options that may be given. One without `<…>` is a switch. */
  readonly options?: Readonly<Record<string, string>>;
  /** What may follow the verb, for its help: `--workspace acme`, or `''` when nothing has to. */
  readonly example?: string;
  /**
   * Carries it out. Resolves with what is printed, one object of records or lists; throws `OperatorError` for what cannot be done.
   * @param options by name in camelCase, `--by-task` as `byTask`; a switch is true.
   * @param argument of a usage such as `show <id>` or `count [slug]`; empty when none was given.
   */
  readonly run: (services: ExtensionServices, options: CommandOptions, argument: string) => Promise<object>;
}

/** The options as given: text, or true for a switch. One that may be left out, and was, is undefined. */
export type CommandOptions = Readonly<Record<string, string | true | undefined>>;

/** A class whose instance is the checked section, and so its own injection token. */
export interface ConfigSection<S extends z.ZodObject> {
  new (): z.output<S>;
  readonly schema: S;
}

/**
 * Makes the class of a section of CONFIG_FILE. Providers of the extension inject it and find the values as fields.
 *
 * @example
 * ```ts
 * export class ReviewsConfig extends configSection(z.strictObject({ perTask: z.int().min(1).default(20) })) {}
 * ```
 */
export function configSection<S extends z.ZodObject>(schema: S): ConfigSection<S> {
  class Section {
    static readonly schema = schema;
  }
  return Section as unknown as ConfigSection<S>;
}

/** Says what an extension brings; the result stands in the list of `src/extensions.ts`. */
export function defineExtension(extension: Extension): Extension {
  return extension;
}
