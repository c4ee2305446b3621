// The items of OpenAI's responses that are calls and results of the program's own tools.
import { type Fields, fields, isFields, list, parsed, text } from './fields.js';
import { type Offered, stays, textOf } from './offered.js';
import type { Forwarding, WireCall, WireResult } from './wire.js';

/** Which field a call has what the model wrote in, and what its tool is called where the call has no name. */
const CALLS: Record<string, { field: string; name?: string }> = {
  function_call: { field: 'arguments' },
  custom_tool_call: { field: 'input' },
  local_shell_call: { field: 'action', name: 'local_shell' },
  shell_call: { field: 'action', name: 'shell' },
  apply_patch_call: { field: 'operation', name: 'apply_patch' },
  tool_search_call: { field: 'arguments', name: 'tool_search' },
};

const RESULTS = [
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'tool_search_output',
];

/** Types of tools that the program runs, by the calls to them. */
const OWN_TOOLS = ['function', 'custom', 'local_shell', 'shell', 'apply_patch', 'tool_search', 'namespace'];

export function toolName(entry: Fields): string {
  return text(entry['name']) || text(entry['type']);
}

/**
 * A tool within a namespace: `namespace.tool`, and as all programs call it where the namespace is an MCP server, `mcp__server__tool`. The
 * one of functions is what a model calls the tools that stand in none.
 */
function nameWithin(namespace: unknown, name: string): string {
  return before(text(namespace)) + name;
}

function before(namespace: string): string {
  if (namespace === '' || namespace === 'functions') return '';
  return namespace.startsWith('mcp__') ? `${namespace}__` : `${namespace}.`;
}

/** A shell in a container of the provider's, and a search that it carries out, are its own. */
function providerType(tool: Fields): string | null {
  const type = text(tool['type']);
  if (!OWN_TOOLS.includes(type)) return type;
  if (type === 'tool_search') return tool['execution'] === 'client' ? null : type;
  if (type !== 'shell') return null;
  return fields(tool['environment'])['type'] === 'local' ? null : type;
}

function offered(tool: Fields): Offered {
  return { name: toolName(tool), providerType: providerType(tool) };
}

type Rules = Pick<Forwarding, 'hide' | 'providerTools'>;

/** The tools of a list that stay. A namespace is a list of its own; one without a tool goes. */
export function staying(tools: unknown, rules: Rules, namespace = ''): Fields[] {
  return list(tools).flatMap((tool) => {
    if (!stays(offered(tool), rules)) return [];
    if (rules.hide.includes(nameWithin(namespace, toolName(tool)))) return [];
    if (tool['type'] !== 'namespace') return [tool];
    const inside = staying(tool['tools'], rules, text(tool['name']));
    return inside.length === 0 ? [] : [{ ...tool, tools: inside }];
  });
}

/** Names of the tools of a list, those of namespaces each by its own. */
export function namesOf(tools: readonly Fields[], namespace = ''): string[] {
  return tools.flatMap((tool) => {
    if (tool['type'] === 'namespace') return namesOf(list(tool['tools']), text(tool['name']));
    return [nameWithin(namespace, toolName(tool))];
  });
}

/** The call that an item is; null where it is none that the program carries out. */
export function callIn(item: Fields): WireCall | null {
  const form = text(item['type']);
  const call = CALLS[form];
  if (call === undefined || (form === 'tool_search_call' && item['execution'] !== 'client')) return null;
  const written = item[call.field];
  const toolCallId = text(item['call_id']) || text(item['id']);
  const name = nameWithin(item['namespace'], text(item['name']) || (call.name ?? ''));
  const namespace = text(item['namespace']);
  const within = namespace === '' ? {} : { namespace };
  if (form === 'function_call') return { toolCallId, name, input: text(written), ...within };
  const input = JSON.stringify(form === 'custom_tool_call' ? { input: text(written) } : fields(written));
  return { toolCallId, name, input, form, ...within };
}

/** A call as an item: the other way round than {@link callIn}. */
export function itemOf({ toolCallId, name, input, form = 'function_call', namespace }: WireCall): Fields {
  const { field = 'arguments', name: fixed } = CALLS[form] ?? {};
  const own = name.slice(before(namespace ?? '').length);
  return {
    type: form,
    id: `${form === 'function_call' ? 'fc' : 'ctc'}_${toolCallId}`,
    call_id: toolCallId,
    ...(fixed === undefined ? { name: own } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    ...(form === 'tool_search_call' ? { execution: 'client' } : {}),
    [field]: writtenIn(form, input),
    status: 'completed',
  };
}

function writtenIn(form: string, input: string): unknown {
  if (form === 'function_call') return input;
  return form === 'custom_tool_call' ? text(parsed(input)['input']) : parsed(input);
}

/** The result of a call that an item of the input is; null where it is none. */
export function resultIn(item: Fields): WireResult | null {
  if (!RESULTS.includes(text(item['type']))) return null;
  return { toolCallId: text(item['call_id']), text: outputOf(item), isError: false };
}

function outputOf({ output, tools }: Fields): string {
  if (tools !== undefined) return JSON.stringify(tools);
  if (typeof output === 'string' || Array.isArray(output)) return shellOutput(output) ?? textOf(output);
  // Before lists there was an object around it.
  return isFields(output) ? text(output['content']) || JSON.stringify(output) : '';
}

/** Of a shell: what each command wrote. */
function shellOutput(output: unknown): string | null {
  const said = list(output);
  if (said.length === 0 || !said.every((one) => 'stdout' in one)) return null;
  return said.map((one) => text(one['stdout']) + text(one['stderr'])).join('\n');
}

/** The calls of an answer, each with its item. What has its result in the same answer, as a shell in a container, the provider has carried out. */
export function callsOf(answer: readonly Fields[]): { item: Fields; call: WireCall }[] {
  const results = answer.map((item) => resultIn(item)?.toolCallId);
  return answer.flatMap((item) => {
    const call = callIn(item);
    return call === null || results.includes(call.toolCallId) ? [] : [{ item, call }];
  });
}
