// Which of the tools that a program offers its model go to the provider (reference §30): no hidden one, and none that the provider runs.
import { type Fields, fields, isFields, list, text } from './fields.js';
import type { Forwarding } from './wire.js';

/** What a wire knows of an entry of its list of tools. */
export interface Offered {
  /** By which a call or a `tool_choice` means it; of a tool without a name its type. */
  name: string;
  /** Null: the program runs it. Else its type: the provider does. */
  providerType: string | null;
}

type Rules = Pick<Forwarding, 'hide' | 'providerTools'>;

/** Whether a tool, or something else that the provider runs, is named in the configuration: `web_search` also means `web_search_20250305`. */
export function isAllowed(type: string, providerTools: readonly string[]): boolean {
  return providerTools.includes(type) || providerTools.includes(type.replace(/_\d{8}$/, ''));
}

export function stays({ name, providerType }: Offered, { hide, providerTools }: Rules): boolean {
  return !hide.includes(name) && (providerType === null || isAllowed(providerType, providerTools));
}

/**
 * The body with the tools that stay, and a `tool_choice` that means one of them: what `choice` says in place of one that means another. An
 * empty list is refused by some servers, and with it all that is said of tools.
 */
export function withTools(body: Fields, tools: Fields[], names: readonly string[], choice: (given: Fields) => unknown) {
  const { tools: before, tool_choice: given, parallel_tool_calls: parallel, ...rest } = body;
  if (before !== undefined && names.length === 0) return rest;
  return {
    ...rest,
    ...(tools.length === 0 ? {} : { tools }),
    ...(given === undefined ? {} : { tool_choice: isFields(given) ? choice(given) : given }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  };
}

/** The choice of OpenAI's wires, of one tool or of several; `auto` when none of them is left. */
export function openAiChoice(given: Fields, nameOf: (entry: Fields) => string, names: readonly string[]): unknown {
  const isLeft = (entry: Fields) => names.includes(nameOf(entry));
  if (given['type'] !== 'allowed_tools') return isLeft(given) ? given : 'auto';
  const inside = fields(given['allowed_tools']);
  const allowed = list(given['tools'] ?? inside['tools']).filter(isLeft);
  if (allowed.length === 0) return 'auto';
  return given['tools'] === undefined
    ? { ...given, allowed_tools: { ...inside, tools: allowed } }
    : { ...given, tools: allowed };
}

/** The text of content in any of the wires: a string, or parts some of which are text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(part['text']) || text(part['refusal']))
    .filter((part) => part !== '')
    .join('\n');
}
