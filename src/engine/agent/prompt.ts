import { readFileSync } from 'node:fs';

/** The system prompt. It is the same for every task, so that providers can cache it. */
export const SYSTEM_PROMPT = readFileSync(new URL('./system-prompt.txt', import.meta.url), 'utf8').trim();
