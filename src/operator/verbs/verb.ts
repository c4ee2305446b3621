// Common parts of the verbs of the operator command: options, their values, the services, and how an answer is printed.
import { resolve } from 'node:path';
import { type INestApplicationContext, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Command, InvalidArgumentError } from 'commander';
import type { Role } from '../../access/auth/auth-context.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { WorkspacesService } from '../../access/workspaces/workspaces.service.js';
import { addVerb, Program, type VerbCommand } from './command.js';
import { composeCli } from './compose-cli.js';
import { interruptible } from './interruption.js';
import { lines, table } from './words.js';
import { type Env, readEnv } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import type { Recognise } from '../../platform/database/database.module.js';
import { isInstallation } from '../../platform/database/embedded/embedded-cluster.js';
import type { Scope } from '../../platform/http/endpoint.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { printable } from '../../platform/text/names.js';

export interface Options {
  json?: true;
  workspace: string;
  user?: string;
  name: string;
  email: string;
  slug?: string;
  plan?: Plan;
  role: Role;
  scopes: readonly Scope[];
  expires?: number;
  service?: string;
  key?: string;
  expose?: readonly string[];
  default?: true;
  transferTo?: string;
  yes?: true;
  force?: true;
  secret?: string;
  issuer?: string;
  /** Seconds. */
  overlap?: number;
}
export type Services = Pick<INestApplicationContext, 'get'>;
/** `argument` is empty where the usage has none, or where an optional one was not given. */
export type Verb<T extends object = object> = (services: Services, options: Options, argument: string) => Promise<T>;

/** The workspace that `--workspace` names. Throws {@link OperatorError} when there is none. */
export const workspaceOf = (services: Services, { workspace }: Pick<Options, 'workspace'>) =>
  services.get(WorkspacesService).get(workspace);
/** The person whom `--user` names. Throws {@link OperatorError} when there is none. */
export const userOf = (services: Services, { user = '' }: Options) => services.get(UsersService).get(user);

/** The option by which a verb may take a workspace its last owner; {@link ownerChange} reads it. */
export const EVEN_LAST_OWNER = ['--yes', 'even when it leaves a workspace without a person as owner'] as const;
export const ownerChange = ({ yes }: Options) => ({ evenLastOwner: yes === true });

interface VerbSettings<T> {
  /** What people read instead of all fields of the answer. */
  words?: (answer: T) => string;
  /** The verb may make an installation where there is none. */
  installs?: boolean;
  /** As {@link composeCli} has it. */
  recognise?: Recognise;
}

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds. */
export function lifetime(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('A number with s, m, h or d is expected, such as 90d.');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** A parser of scopes: `all` are those that exist now, those of extensions too. */
export function scopesOf(known: readonly Scope[]) {
  return (text: string): readonly Scope[] => (text === 'all' ? known : listOf(known, 'all, ')(text));
}

/** A parser of comma-separated values: those of `known` that are given, in the order of `known`. */
export function listOf<T extends string>(known: readonly T[], further = '') {
  return (text: string): readonly T[] => {
    const given = text.split(',').map((value) => value.trim());
    const unknown = given.find((value) => !known.some((one) => one === value));
    if (unknown !== undefined)
      throw new InvalidArgumentError(`'${unknown}' is none of: ${further}${known.join(', ')}.`);
    return known.filter((value) => given.includes(value));
  };
}

/** A verb about one workspace; `further` are required options too: flags → meaning. */
export function ofWorkspace<C extends Command>(command: C, further: Record<string, string> = {}): C {
  command.requiredOption('--workspace <slug>', 'the workspace');
  for (const [flags, meaning] of Object.entries(further)) command.requiredOption(flags, meaning);
  return command;
}

/** A subcommand that prints what `act` resolves with: for people, or with `--json` as one object. */
export function verb<T extends object>(
  parent: Command,
  usage: string,
  act: Verb<T>,
  { words = inWords, installs = false, ...beginning }: VerbSettings<T> = {},
): VerbCommand {
  const command = addVerb(parent, usage);
  return command.action(async () => {
    const options = command.optsWithGlobals<Options>();
    const extensions = extensionsOf(command);
    const env = readEnv(undefined, extensions);
    if (!installs) requireInstallation(env);
    const answer = await withServices(composeCli(env, extensions, beginning), (services) => {
      return act(services, options, command.args[0] ?? '');
    });
    console.log(options.json === true ? JSON.stringify(answer) : printable(words(answer)));
  });
}

/** A wrong `DATA_DIR` must not become a second, empty installation. Throws {@link OperatorError}; makes nothing. */
export function requireInstallation({ variables: { DATABASE_URL, DATA_DIR = '.data' } }: Env): void {
  const folder = resolve(DATA_DIR);
  if (DATABASE_URL !== undefined || isInstallation(folder)) return;
  throw new OperatorError(
    `DATA_DIR ${folder} holds no Millwright installation. Set DATA_DIR to the folder of the service, or DATABASE_URL to its database. 'npm start', 'npm run demo' and 'workspace create' make a new installation.`,
  );
}

function extensionsOf(command: Command): ExtensionSet {
  if (command instanceof Program) return command.extensions;
  if (command.parent === null) throw new Error(`The verb '${command.name()}' stands below no Program.`);
  return extensionsOf(command.parent);
}

/**
 * Does something with the services of these modules, and closes them. Ctrl-C closes what is open before the process ends: a transaction ends whole or not at all, and a server that was started
 * stops.
 */
export function withServices<T>(modules: ModuleMetadata, act: (services: Services) => Promise<T>): Promise<T> {
  return interruptible((interrupted) =>
    withOpen(modules, (services) => Promise.race([rejection(interrupted), act(services)]), interrupted),
  );
}

/**
 * {@link withServices} for what is to be taken back when it is interrupted: the services stay open until `act` has ended.
 * `act` ends by itself soon after the signal.
 */
export async function withOpen<T>(
  modules: ModuleMetadata,
  act: (services: Services) => Promise<T>,
  interrupted?: AbortSignal,
): Promise<T> {
  @Module(modules)
  class CliModule {}
  const context = await NestFactory.createApplicationContext(CliModule, { logger: false, abortOnError: false });
  try {
    // It may have come while the services were made.
    interrupted?.throwIfAborted();
    return await act(context);
  } finally {
    await context.close();
  }
}

function rejection(interrupted: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    interrupted.addEventListener('abort', () => reject(interrupted.reason as Error));
  });
}

/** Several records as a table, where the terminal has the room; else, and for one, `name: value` lines. */
export function inWords(answer: object): string {
  const [first] = Object.values(answer) as unknown[];
  const records = Object.values(answer).flat().filter((item) => typeof item === 'object' && item !== null) as object[]; // prettier-ignore
  if (records.length === 0) return Array.isArray(first) ? 'None.' : 'Done.';
  // A program that reads lines gets whole ones.
  const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  return (Array.isArray(first) ? table(records, width) : null) ?? records.map(lines).join('\n\n');
}
