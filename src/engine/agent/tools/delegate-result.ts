import type { JsonValue } from '../../models/conversation.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import { success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import type { DelegationUse, MadeTask } from '../delegation.js';
import { truncateMiddle } from './tool-text.js';

const PATCH = 'changes.patch';
/** Characters of a result, where the window gives no other figure. */
const USUAL = 30_000;
/** Of these, those that are for texts: the rest is for names and figures. */
const FOR_TEXT = 0.7;

/** What became of the tasks: the result of the call, with their files under `/tmp/tasks/<n>/` of the sandbox. */
export async function resultOf(made: MadeTask[], use: DelegationUse, context: ToolContext): Promise<ToolOutcome> {
  const room = Math.floor(((context.resultCharacters ?? USUAL) * FOR_TEXT) / made.length);
  const tasks: JsonValue[] = [];
  for (const one of made) tasks.push(await told(one, use, context, room));
  return success({ tasks });
}

async function told(task: MadeTask, use: DelegationUse, context: ToolContext, room: number): Promise<JsonValue> {
  const { id, title, statusReason, output } = task;
  if (task.status === null) return { id, title, status: 'gone' };
  const folder = `/tmp/tasks/${task.number}`;
  const files: string[] = [];
  for (const { name, open } of task.files.filter((file) => file.name !== PATCH)) {
    await lay(await context.sandbox(), `${folder}/${name}`, open);
    files.push(`${folder}/${name}`);
  }
  const changed = await laidChanges(task, use, context, folder);
  const { text, whole } = await fitted(task.text, `${folder}/answer.md`, room, context);
  return {
    ...{ id, title, status: task.status, statusReason, text, ...(whole === null ? {} : { wholeText: whole }), output },
    ...{ ...changed, files },
  };
}

/** What the task has changed since it began: beside what it began with, its own patch has that of its parent. */
async function laidChanges(task: MadeTask, { repository }: DelegationUse, context: ToolContext, folder: string) {
  const given = task.files.find(({ name }) => name === PATCH) ?? null;
  const counted = task.changes;
  const none = { changes: counted && { files: counted.files, additions: counted.additions, deletions: counted.deletions }, patch: null }; // prettier-ignore
  if (given === null && task.base === null) return none;
  const session = await context.sandbox();
  const patch = `${folder}/${PATCH}`;
  if (given !== null) await lay(session, patch, given.open);
  if (task.base === null || repository === null || counted === null) return given === null ? none : { ...none, patch };
  await lay(session, `${folder}/.base`, task.base);
  const { files, additions, deletions } = await repository.difference(session, folder, given !== null);
  return { changes: { files, additions, deletions }, patch: files === 0 ? null : patch };
}

/** The text in its share of the window; of a longer one the whole is in a file. */
async function fitted(text: string | null, path: string, room: number, context: ToolContext) {
  if (text === null || text.length <= room) return { text, whole: null };
  await (await context.sandbox()).writeFile(path, text);
  return { text: truncateMiddle(text, room).text, whole: path };
}

async function lay(session: SandboxSession, path: string, open: MadeTask['files'][number]['open']): Promise<void> {
  const content = await open();
  try {
    await session.writeFile(path, content);
  } finally {
    content.destroy();
  }
}
