// What a model is told before all else.
import { readFileSync } from 'node:fs';
import type { AgentInput } from './agent-engine.js';

/** The system prompt. It is the same for every task, so that providers can cache it. */
const SYSTEM_PROMPT = readFileSync(new URL('./system-prompt.txt', import.meta.url), 'utf8').trim();

/** What a task with an agent has in addition, before the instructions of that. */
export const AGENT_PROMPT = readFileSync(new URL('./agent-prompt.txt', import.meta.url), 'utf8').trim();

/**
 * What a task that asks for JSON has in addition. It stands at the beginning, where it is sent with every request of the task and no
 * compaction takes it away. The schema has its keys in the order in which they were given.
 */
export const OUTPUT_PROMPT = readFileSync(new URL('./output/output-prompt.txt', import.meta.url), 'utf8').trim();

/** The system prompt of a task: what is the same for most tasks stands first, so that providers keep the longest beginning of it. */
export function systemPrompt({
  instructions = '',
  outputSchema,
}: Pick<AgentInput, 'instructions' | 'outputSchema'>): string {
  const told = instructions.trim() === '' ? [] : [AGENT_PROMPT, instructions];
  const form = outputSchema == null ? [] : [OUTPUT_PROMPT, JSON.stringify(outputSchema)];
  return [SYSTEM_PROMPT, ...told, ...form].join('\n\n');
}
