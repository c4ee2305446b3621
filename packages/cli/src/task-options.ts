// What the options of a line say of a task.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { CreateTask } from '@millwright/sdk';
import { checksIn } from './checks.js';
import { type Line, UsageError } from './line.js';

export async function contentOf(word: string): Promise<string> {
  if (word !== '-') return word;
  if (process.stdin.isTTY) console.error('Reading the content; Ctrl-D ends it.');
  return text(process.stdin);
}

export async function taskOf(line: Line): Promise<CreateTask> {
  const [projectId, model, maxSteps] = [line.text('project'), line.text('model'), numberIn(line, 'max-steps')];
  const approvals = oneOf(line, 'approvals', ['none', 'writes', 'secrets'] as const);
  const whenBlocked = oneOf(line, 'when-blocked', ['fail', 'wait'] as const);
  const [metadata, tags] = [metadataIn(line), line.texts('tag')];
  return {
    content: await contentOf(line.word(0)),
    ...(projectId && { projectId }),
    ...agentIn(line),
    ...environmentIn(line),
    ...skillsIn(line),
    ...mcpIn(line),
    ...(model && { model }),
    ...effortIn(line),
    ...(approvals && { approvals }),
    ...(whenBlocked && { whenBlocked }),
    ...(line.has('no-web') && { web: false }),
    ...(maxSteps && { budget: { maxSteps } }),
    ...(metadata && { metadata }),
    ...(tags.length > 0 && { tags }),
    ...checksIn(line),
  };
}

/** `reviewer`, `reviewer@3`, `reviewer@stable`, or `-` for none in place of the default one. */
function agentIn(line: Line): Pick<CreateTask, 'agent'> {
  const agent = line.text('agent');
  return agent === undefined ? {} : { agent: agent === '-' ? null : agent };
}

/** `node`, `node@3`, or `-` for none in place of the project's. */
function environmentIn(line: Line): Pick<CreateTask, 'environment'> {
  const word = line.text('environment');
  if (word === undefined) return {};
  const [, slug = word, version] = /^(.*)@([1-9]\d*)$/.exec(word) ?? [];
  return { environment: version === undefined ? (word === '-' ? null : word) : { slug, version: Number(version) } };
}

export function skillsIn(line: Line): Pick<CreateTask, 'skills'> {
  const skills = namesIn(line, 'skill');
  return skills === null ? {} : { skills };
}

function mcpIn(line: Line): Pick<CreateTask, 'mcpServers'> {
  const mcpServers = namesIn(line, 'mcp');
  return mcpServers === null ? {} : { mcpServers };
}

/** Null: not given. `-` alone for none in place of those by default. */
function namesIn(line: Line, option: string): string[] | null {
  const names = line.texts(option);
  if (names.length === 0) return null;
  return names.length === 1 && names[0] === '-' ? [] : names;
}

export function numberIn(line: Line, name: string): number | undefined {
  const word = line.text(name);
  if (word !== undefined && !/^[1-9]\d*$/.test(word)) throw new UsageError(`--${name} takes a number.`);
  return word === undefined ? undefined : Number(word);
}

export function effortIn(line: Line): Pick<CreateTask, 'effort'> {
  const effort = oneOf(line, 'effort', ['low', 'medium', 'high'] as const);
  return effort === undefined ? {} : { effort };
}

export function metadataIn(line: Line): Record<string, string> | undefined {
  const pairs = line.texts('metadata').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--metadata takes key=value, not ${pair}.`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

export function schemaIn(path: string | undefined): CreateTask['outputSchema'] {
  if (path === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as CreateTask['outputSchema'];
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${path} is no JSON: ${error.message}`);
    throw error;
  }
}

export function oneOf<T extends string>(line: Line, name: string, words: readonly T[]): T | undefined {
  const word = line.text(name);
  const found = words.find((one) => one === word);
  if (word !== undefined && found === undefined) throw new UsageError(`--${name} takes ${words.join(', ')}.`);
  return found;
}
