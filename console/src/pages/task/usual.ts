// The calls of agent programs, in the form of the tools of the service's own loop: all that draws, counts or asks knows one form.
import type { MessagePart } from '../../api/client.ts';

export type Result = Extract<MessagePart, { type: 'tool_result' }>;
type Fields = Record<string, unknown>;

/** The tool of the loop that one of a program is like, and its fields by the names that they have there. */
type Like = readonly [name: string, fields?: Readonly<Record<string, string>>];

const FILE = { file_path: 'path', filePath: 'path' };
const EDIT = {
  ...FILE,
  notebook_path: 'path',
  old_string: 'oldText',
  oldString: 'oldText',
  new_string: 'newText',
  newString: 'newText',
  new_source: 'newText',
};
/** Of Codex, of Claude Code, and of opencode, whose names are often ours. */
const TOOLS: Readonly<Record<string, Like>> = {
  exec_command: ['bash', { cmd: 'command' }],
  write_stdin: ['write_stdin', { chars: 'command' }],
  apply_patch: ['apply_patch', { input: 'patch', patchText: 'patch' }],
  update_plan: ['todo', { plan: 'items' }],
  view_image: ['read'],
  Bash: ['bash'],
  Read: ['read', FILE],
  Write: ['write', FILE],
  Edit: ['edit', EDIT],
  NotebookEdit: ['edit', EDIT],
  Glob: ['glob'],
  Grep: ['grep'],
  TodoWrite: ['todo', { todos: 'items' }],
  TaskCreate: ['todo_item', { subject: 'text' }],
  TaskUpdate: ['todo_item', { subject: 'text' }],
  read: ['read', FILE],
  write: ['write', FILE],
  edit: ['edit', EDIT],
  todowrite: ['todo', { todos: 'items' }],
};

/** How programs call a tool of the service. */
const OF_SERVICE = /^(?:mcp_{1,2})?millwright(?:_{1,2}|[./:-])([\w-]+)$/;

/** Nothing is left out: a field that would take the place of another one stays as it is, and so does all of the call. */
export function usual(called: string, input: Fields): { name: string; input: Fields } {
  const own = OF_SERVICE.exec(called)?.[1] ?? called;
  const [name, fields = {}] = Object.hasOwn(TOOLS, own) ? (TOOLS[own] ?? [own]) : [own];
  const entries = Object.entries(input).map(([field, value]): [string, unknown] => [
    Object.hasOwn(fields, field) ? (fields[field] ?? field) : field,
    value,
  ]);
  const renamed = Object.fromEntries(entries);
  return Object.keys(renamed).length === entries.length ? { name, input: renamed } : { name: own, input };
}

/** What a call has come to. Programs tell it as a text; the loop tells fields. @param name as `usual` has it. */
export function usualResult(name: string, result: Result): Result {
  const text = result.status === 'success' ? result.output : result.status === 'error' ? result.error : null;
  if (typeof text !== 'string') return result;
  const [head, said] = apart(text, result.status === 'error');
  // Its protocol has no place for that.
  if (CODEX.test(result.name) && head === '' && !/^Plan updated/.test(text)) return failed(result, text);
  if (name === 'bash' || name === 'write_stdin') return ofCommand(result, head, said);
  if (name === 'apply_patch' && head !== '') {
    if (!/^Success\b/.test(said)) return failed(result, said);
    return succeeded(result, { files: said.split('\n').filter((line) => /^[AMD] ./.test(line)) });
  }
  return result.status === 'error' ? failed(result, text) : result;
}

/** Tools of Codex, which tells what became of them before their output, and errors as any other result. */
const CODEX = /^(exec_command|write_stdin|apply_patch|update_plan)$/;

/** Codex says in lines before its output how a command ended, Claude Code says a code that is not 0. */
function ofCommand(result: Result, head: string, stdout: string): Result {
  const exited = /^(?:Process exited with code|Exit code) (-?\d+)$/m.exec(head)?.[1];
  if (result.status === 'error' && exited === undefined) return failed(result, stdout);
  const id = (/^Process running with session ID (\d+)$/m.exec(head) ??
    /^Command running in background with ID: ([\w-]+)/.exec(stdout))?.[1];
  return succeeded(result, { stdout, ...(exited !== undefined && { exitCode: Number(exited) }), ...(id && { id }) });
}

/** What stands before the output, and the output. */
function apart(text: string, isError: boolean): [head: string, output: string] {
  const first = isError
    ? /^Exit code \d+(?:\n|$)/
    : /^(?:Chunk ID|Wall time|Exit code): .*\n(?:(?:[A-Z][A-Za-z ]*: .*|Process .*)\n)*Output:\n?/;
  const [told = ''] = first.exec(text) ?? [];
  return [told, text.slice(told.length)];
}

const succeeded = (
  { toolCallId, name, type }: Result,
  output: Extract<Result, { status: 'success' }>['output'],
): Result => {
  return { type, toolCallId, name, status: 'success', output };
};

/** Claude Code marks up what its model is told of errors. */
function failed({ toolCallId, name, type }: Result, text: string): Result {
  const [, words = text] = /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/.exec(text) ?? [];
  return { type, toolCallId, name, status: 'error', error: words };
}
