import { readFileSync } from 'node:fs';

import type { OutputSchema } from './output/output-schema.js';

/** The system prompt. It is the same for every task, so that providers can cache it. */
export const SYSTEM_PROMPT = readFileSync(new URL('./system-prompt.txt', import.meta.url), 'utf8').trim();

/**
 * What a task that asks for JSON has in addition. It stands at the beginning, where it is sent with every request of the task and no
 * cut of the conversation takes it away. The schema has its keys in the order in which they were given.
 */
const OUTPUT_PROMPT = readFileSync(new URL('./output/output-prompt.txt', import.meta.url), 'utf8').trim();

/** The system prompt of a task. */
export function systemPrompt(schema: OutputSchema | null | undefined): string {
  return schema == null ? SYSTEM_PROMPT : `${SYSTEM_PROMPT}\n\n${OUTPUT_PROMPT}\n\n${JSON.stringify(schema)}`;
}
