// A call's arguments as a tool's fields. Models know tools of other names and spellings; what can mean one thing only is taken.
import type { z } from 'zod';
import { isJsonObject, type JsonValue } from '../models/conversation.js';
import type { AgentTool } from './agent-tool.js';
import { truncateMiddle } from './tools/tool-text.js';

/** Of wrong arguments: how many the error lists, and its characters. 250,000 of them made an error of 9 MB. */
const ISSUES = 10;
const WRONG = 4_000;

/** Words about a call that change nothing. */
const SAID = ['description', 'explanation', 'instruction'];
/** Commands of tools that have several, each with the tool of ours that does just that. */
const COMMANDS: Record<string, string> = { str_replace: 'edit', view: 'read', create: 'write' };

interface Schema {
  properties?: Record<string, { type?: string } | undefined>;
  required?: string[];
}

/** The arguments as `tool.parameters` parse them, or the error for the model. */
export function readArguments(
  tool: AgentTool,
  schema: Schema,
  input: JsonValue,
): { input: unknown } | { error: string } {
  const fields = `The fields of ${tool.name}: ${fieldsOf(schema)}.`;
  if (!isJsonObject(input)) {
    const error = `The arguments of ${tool.name} are not a JSON object of at most 10,000 keys and values, so nothing was done.`;
    return { error: `${error} ${fields}` };
  }
  const given = tool.inputSchema === null ? fieldsFrom(tool, schema, input) : input;
  const parsed = tool.parameters.safeParse(given);
  if (parsed.success) return { input: parsed.data };
  const issues = parsed.error.issues.flatMap(issueLines);
  const lines = issues.slice(0, ISSUES);
  if (issues.length > ISSUES) lines.push(`- and ${issues.length - ISSUES} more`);
  return {
    error: `The arguments of ${tool.name} are wrong, so nothing was done:\n${truncateMiddle(lines.join('\n'), WRONG).text}\n${fields}`,
  };
}

/** A name without what spellings differ in: `file_path`, `filePath` and `FilePath` are one. */
export function spelling(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function fieldsFrom(tool: AgentTool, schema: Schema, input: Record<string, JsonValue>): Record<string, JsonValue> {
  const { properties = {}, required = [] } = schema;
  const names = new Map<string, string>();
  for (const field of Object.keys(properties)) {
    for (const name of [field, ...(tool.aliases[field] ?? [])]) names.set(spelling(name), field);
  }
  const result: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(input)) {
    const field = Object.hasOwn(properties, key) ? key : names.get(spelling(key));
    if (
      field === undefined &&
      (SAID.includes(key) || (key === 'command' && typeof value === 'string' && COMMANDS[value] === tool.name))
    )
      continue;
    // The field is given under its own name too: both are wrong together.
    const name = field === undefined || (field !== key && Object.hasOwn(input, field)) ? key : field;
    if (value === null && field !== undefined && !required.includes(field)) continue;
    // Not by assignment: a key may be `__proto__`.
    Object.defineProperty(result, name, { value: asType(properties[name]?.type, value), enumerable: true });
  }
  return result;
}

/** Numbers and truth values that came as text. */
function asType(type: string | undefined, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value)) return Number(value);
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return value;
}

function issueLines(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  const at = (key?: string) => [...path, ...(key === undefined ? [] : [key])].join('.') || 'arguments';
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `- ${at(key)}: there is no such field`);
  if (issue.message.endsWith('received undefined')) return [`- ${at()}: it is missing`];
  return [`- ${at()}: ${issue.message}`];
}

function fieldsOf({ properties = {}, required = [] }: Schema): string {
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `${name} (required)` : name));
  return names.join(', ') || 'none';
}
