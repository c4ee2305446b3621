#!/usr/bin/env node
// The operator command (reference §16), thin: every verb is a service call. It runs beside the service or alone.
import 'reflect-metadata';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Role } from './auth/auth-context.js';
import { KeysService } from './auth/keys.service.js';
import { composeCli } from './compose.js';
import { readEnv } from './config/env.js';
import { type Scope, SCOPES } from './http/endpoint.js';
import { MembershipsService, ROLES } from './workspaces/memberships.service.js';
import { UsersService } from './workspaces/users.service.js';
import { type Workspace, WorkspacesService } from './workspaces/workspaces.service.js';

interface Options {
  json?: true;
  workspace: string;
  user: string;
  name: string;
  email: string;
  slug?: string;
  plan: Workspace['plan'];
  role: Role;
  scopes: readonly Scope[];
  expires?: number;
}
type Services = Pick<INestApplicationContext, 'get'>;
type Verb = (services: Services, options: Options, id: string) => Promise<object>;

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };

function lifetime(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('A number with s, m, h or d is expected, such as 90d.');
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

function scopes(text: string): readonly Scope[] {
  if (text === 'all') return SCOPES;
  const given = text.split(',').map((scope) => scope.trim());
  const unknown = given.find((scope) => !SCOPES.includes(scope as Scope));
  if (unknown !== undefined) throw new InvalidArgumentError(`'${unknown}' is none of: all, ${SCOPES.join(', ')}.`);
  return SCOPES.filter((scope) => given.includes(scope));
}

const workspaceOf = (services: Services, { workspace }: Options) => services.get(WorkspacesService).get(workspace);
const userOf = (services: Services, { user }: Options) => services.get(UsersService).get(user);

const createKey: Verb = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const key = await services.get(KeysService).create({
    workspaceId: workspace.id,
    userId: user.id,
    name: options.name,
    scopes: options.scopes,
    lifetimeSeconds: options.expires ?? null,
  });
  return { key };
};

const addMember: Verb = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  return { member: await services.get(MembershipsService).add(workspace.id, user.id, options.role) };
};

const removeMember: Verb = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  await services.get(MembershipsService).remove(workspace.id, user.id);
  return { removed: true, workspaceId: workspace.id, userId: user.id };
};

function program(): Command {
  const root = new Command('millwright').description('Operates a Millwright service.').exitOverride();
  const group = (name: string, description: string) => root.command(name).description(description);
  const workspace = group('workspace', 'the tenants');
  verb(workspace, 'create', async (services, options) => ({
    workspace: await services.get(WorkspacesService).create(options),
  }))
    .requiredOption('--name <name>')
    .option('--slug <slug>', 'small letters, digits and hyphens; made from the name when not given')
    .addOption(new Option('--plan <plan>').choices(['free', 'paid']).default('paid'));
  verb(workspace, 'list', async (services) => ({ workspaces: await services.get(WorkspacesService).list() }));
  verb(group('user', 'the people'), 'create', async (services, options) => ({
    user: await services.get(UsersService).create(options),
  }))
    .requiredOption('--email <address>')
    .requiredOption('--name <name>');
  members(group('member', 'who belongs to a workspace'));
  keys(group('key', 'personal keys'));
  return root;
}

function members(member: Command): void {
  ofWorkspace(verb(member, 'add', addMember), '--user <address>').addOption(
    new Option('--role <role>').choices(ROLES).makeOptionMandatory(),
  );
  ofWorkspace(verb(member, 'remove', removeMember), '--user <address>');
  ofWorkspace(
    verb(member, 'list', async (services, options) => {
      const { id } = await workspaceOf(services, options);
      return { members: await services.get(MembershipsService).list(id) };
    }),
  );
}

function keys(key: Command): void {
  ofWorkspace(verb(key, 'create', createKey), '--user <address>')
    .option('--name <name>', 'for the list of keys', 'key')
    .addOption(new Option('--scopes <all|a,b>').argParser(scopes).default(SCOPES, 'all'))
    .addOption(new Option('--expires <90d>', 'how long it is valid').argParser(lifetime));
  ofWorkspace(
    verb(key, 'list', async (services, options) => {
      const { id } = await workspaceOf(services, options);
      return { keys: await services.get(KeysService).list(id) };
    }),
  );
  verb(key, 'revoke <id>', async (services, _options, id) => ({ key: await services.get(KeysService).revoke(id) }));
}

function ofWorkspace(command: Command, ...further: string[]): Command {
  for (const flag of ['--workspace <slug>', ...further]) command.requiredOption(flag);
  return command;
}

function verb(parent: Command, usage: string, act: Verb): Command {
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

try {
  await program().parseAsync();
} catch (error) {
  // Commander has said what is wrong with the line; 2 tells a wrong command from one that failed.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
