// The JSON that a task may ask for (reference §15), and the thread that checks it: schemas come from tenants, and the check compiles them into code.
import { SideThread, ThreadTimeoutError } from '../../../platform/threads/side-thread.js';
import type { JsonValue } from '../../models/conversation.js';
import { cleanJson, cleanText } from '../clean-json.js';

/** A JSON Schema, 2020-12, of at most 16 KiB as JSON. */
export type OutputSchema = Record<string, JsonValue>;

/** The value as JSON text, or why an answer does not fit: lines for the model that gave it. */
export type CheckedOutput = { output: string } | { fault: string };

type Question = { schema: OutputSchema; text?: string };
type Answer = { fault: string | null } | { output: string };

/** Bytes of an answer: as much as of the result of a tool. */
export const OUTPUT_BYTES = 256 * 1024;
export const SCHEMA_BYTES = 16 * 1024;

/** MB. A schema that refers to itself fills the stack: 4 MB take 300 ms of work, and these 45. A hundred levels of a value still fit. */
const STACK_MB = 0.5;
const thread = new SideThread<Question, Answer>(new URL('./output.worker.mjs', import.meta.url), STACK_MB);

/**
 * Why a schema cannot be used, a clause that follows its name; null when it can. It is compiled and tried out; each may take
 * 100 ms of work.
 * @param owner the workspace, as of {@link SideThread}.
 */
export async function schemaFault(schema: OutputSchema, owner: string): Promise<string | null> {
  const weight = JSON.stringify(schema).length;
  const answer = await asked({ schema }, weight, owner, 'takes longer than 100 ms to compile or to check');
  return 'fault' in answer && answer.fault !== null ? cleanText(answer.fault) : null;
}

/** Reads the JSON in an answer, and checks it. */
export async function outputOf(schema: OutputSchema, text: string, owner: string): Promise<CheckedOutput> {
  const bytes = Buffer.byteLength(text);
  if (bytes > OUTPUT_BYTES) return { fault: `It has ${bytes} bytes; at most ${OUTPUT_BYTES} are accepted.` };
  const tooLong = 'The check took longer than 100 ms. Make it shorter.';
  const answer = await asked({ schema, text }, text.length, owner, tooLong);
  if ('fault' in answer) return { fault: cleanText(answer.fault ?? tooLong) };
  const { output } = answer;
  // As the database can hold it.
  const value = JSON.parse(output) as JsonValue;
  const clean = cleanJson(value, output);
  return { output: clean === value ? output : JSON.stringify(clean) };
}

async function asked(question: Question, weight: number, owner: string, tooLong: string): Promise<Answer> {
  try {
    return await thread.ask(question, { weight, owner });
  } catch (error) {
    if (error instanceof ThreadTimeoutError) return { fault: tooLong };
    // The thread alone has ended, for want of memory.
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return { fault: tooLong };
    throw error;
  }
}
