// The notes of the owner of a task: what a model reads as its user's word (docs/decisions/0050, 0085).
import type { Readable } from 'node:stream';
import { isPassing } from '../../platform/database/database-errors.js';
import { skillsOf, skillsText } from '../skills/task-skills.js';
import type { AgentInput } from './agent-engine.js';

/** Bytes of notes. */
export const NOTES_BYTES = 16 * 1024;
/** The first one counts. */
export const NOTES = ['AGENTS.md', 'CLAUDE.md'];

export interface Notes {
  file: string;
  text: string;
}

/** The owner's word, as what they say themselves is: nothing of the agent can be in them. */
export async function skillNotes(
  input: Pick<AgentInput, 'skills' | 'repository' | 'signal'>,
  window: number,
  report: (error: Error) => void,
): Promise<Notes | null> {
  try {
    const text = await skillsText(await skillsOf(input), window);
    return text === null ? null : { file: '/skills', text };
  } catch (error) {
    input.signal.throwIfAborted();
    if (isPassing(error)) throw error;
    report(error as Error);
    return null;
  }
}

/** The first one of them that the project has. */
export async function projectNotes(
  { project, signal }: Pick<AgentInput, 'project' | 'signal'>,
  report: (error: Error) => void,
): Promise<Notes | null> {
  const file = NOTES.map((name) => project.find((one) => one.name === name)).find((one) => one !== undefined);
  if (file === undefined) return null;
  try {
    return { file: `/project/${file.name}`, text: truncateNotes(await beginning(await file.open())) };
  } catch (error) {
    signal.throwIfAborted();
    if (isPassing(error)) throw error;
    // Removed from the project since the run began.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') report(error as Error);
    return null;
  }
}

async function beginning(content: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > NOTES_BYTES) break;
  }
  content.destroy();
  return Buffer.concat(chunks).toString();
}

/** The first 16 KiB of notes. */
export function truncateNotes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= NOTES_BYTES) return text;
  // Half a character at the end becomes a replacement.
  const kept = bytes
    .subarray(0, NOTES_BYTES)
    .toString()
    .replace(/\uFFFD$/, '');
  return `${kept}\n[Cut here, after ${NOTES_BYTES} bytes: read the file.]`;
}
