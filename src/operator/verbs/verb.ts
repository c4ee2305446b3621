// What the verbs of the operator command share: options, their values, the services, and how an answer is printed.
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Command, InvalidArgumentError } from 'commander';
import type { Role } from '../../access/auth/auth-context.js';
import { composeCli } from './compose-cli.js';
import { readEnv } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { type Scope, SCOPES } from '../../platform/http/endpoint.js';

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
  expose?: readonly string[];
  default?: true;
  transferTo?: string;
  yes?: true;
}
export type Services = Pick<INestApplicationContext, 'get'>;
export type Verb = (services: Services, options: Options, id: string) => Promise<object>;

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds. */
export function lifetime(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('A number with s, m, h or d is expected, such as 90d.');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

export function scopes(text: string): readonly Scope[] {
  return text === 'all' ? SCOPES : listOf(SCOPES, 'all, ')(text);
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

/** A verb about one workspace, with further required options. */
export function ofWorkspace(command: Command, ...further: string[]): Command {
  for (const flag of ['--workspace <slug>', ...further]) command.requiredOption(flag);
  return command;
}

/** A subcommand that prints what `act` resolves with. */
export function verb(parent: Command, usage: string, act: Verb): Command {
  const command = parent.command(usage).option('--json', 'print one JSON object');
  return command.action(async (...given: unknown[]) => {
    const options = command.opts<Options>();
    const answer = await withServices((services) => act(services, options, String(given[0])));
    console.log(options.json === true ? JSON.stringify(answer) : inWords(answer));
  });
}

async function withServices<T>(act: (services: Services) => Promise<T>): Promise<T> {
  @Module(composeCli(readEnv()))
  class CliModule {}
  const context = await NestFactory.createApplicationContext(CliModule, { logger: false, abortOnError: false });
  try {
    return await act(context);
  } finally {
    await context.close();
  }
}

/** `name: value` lines; records of a list are separated by an empty line. */
function inWords(answer: object): string {
  const blocks = Object.values(answer).flat().filter((item) => typeof item === 'object' && item !== null); // prettier-ignore
  if (blocks.length === 0) return Array.isArray(Object.values(answer)[0]) ? 'None.' : 'Done.';
  return blocks.map(lines).join('\n\n');
}

function lines(record: object): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${value instanceof Date ? value.toISOString() : String(value ?? '-')}`)
    .join('\n');
}
