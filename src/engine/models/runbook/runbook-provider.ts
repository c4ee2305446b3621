import { readFileSync } from 'node:fs';
import { sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import type { JsonValue } from '../conversation.js';
import { RUNBOOK } from '../model-catalog.js';
import {
  type ModelInfo,
  type ModelPart,
  ModelProvider,
  type ModelRequest,
  type ModelUsage,
} from '../model-provider.js';
import type { Block, BlockAction } from './runbook-blocks.js';
import { outputBlock, replay, type RunbookState } from './runbook-state.js';

const HELP = readFileSync(new URL('./runbook-help.txt', import.meta.url), 'utf8').trim();
const NO_TOKENS: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
const NOT_AN_AI = 'The runbook model is not an AI: it carries out the fenced blocks of a message in order.';

/** The model of a deployment without a provider (reference §15): no AI, and saying so. */
@Plugin(ModelProvider, RUNBOOK)
export class RunbookProvider extends ModelProvider {
  override readonly wantsSurroundings = false;
  override readonly makesTitles = false;
  /** A person has written the commands, and nobody can give one of them more time: each has the most there is. */
  private readonly seconds: number;

  constructor(env: Env) {
    super();
    this.seconds = sandboxLimitsOf(env.file).wallClockSeconds;
  }

  list(): ModelInfo[] {
    return [
      {
        id: RUNBOOK,
        name: 'Runbook',
        description:
          'Not an AI. It carries out the fenced blocks of the task’s Markdown in order and shows each result.',
        efforts: ['low', 'medium', 'high'],
        defaultEffort: 'medium',
        input: ['text'],
        contextWindow: null,
        anyLength: true,
        status: 'available',
      },
    ];
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    yield* answer(await replay(request.messages), this.seconds);
  }
}

function* answer(state: RunbookState, seconds: number): Generator<ModelPart> {
  const malformed = state.blocks.find((block) => block.action.kind === 'malformed');
  const next = state.blocks[state.done.length];
  if (state.blocks.length === 0 && state.outputs.length === 0) yield* end(help(state));
  else if (state.failure !== null) yield* failed(state, state.failure);
  else if (malformed?.action.kind === 'malformed') {
    yield* failed(state, { block: malformed, why: `${malformed.action.problem}; nothing was run` });
  } else if (next === undefined) yield* end(summary(state));
  else yield* step(state, next, seconds);
}

function* step(state: RunbookState, block: Block, seconds: number): Generator<ModelPart> {
  const intro = state.last === null ? `${NOT_AN_AI} This one has ${count(state.blocks)}.` : lastResult(state);
  yield { type: 'text', text: `${intro}\n\nNext, ${nameOf(block)}.`, end: true };
  const { name, input } = callFor(block.action, state.answer, seconds);
  yield { type: 'tool_call', toolCallId: '', name, input: JSON.stringify(input), deliberate: true };
  yield { type: 'finish', reason: 'tool_calls', usage: NO_TOKENS };
}

function* end(text: string): Generator<ModelPart> {
  yield { type: 'text', text, end: true };
  yield { type: 'finish', reason: 'stop', usage: NO_TOKENS };
}

function* failed(state: RunbookState, { block, why }: { block: Block; why: string }): Generator<ModelPart> {
  const message = `${capital(nameOf(block))} failed: ${why}.`.replace(/\.\.$/, '.');
  const left = state.blocks.length - state.done.length - 1;
  const rest = left > 0 ? ` The ${left === 1 ? 'block' : `${left} blocks`} after it did not run.` : '';
  const result = state.last === null ? '' : `${lastResult(state)}\n\n`;
  yield { type: 'text', text: `${result}${message}${rest}${remarksOf(state)}\n\n${NOT_AN_AI}`, end: true };
  yield { type: 'finish', reason: 'stop', usage: NO_TOKENS, failure: { code: 'runbook_block_failed', message } };
}

function callFor(action: BlockAction, answer: string | null, seconds: number): { name: string; input: JsonValue } {
  switch (action.kind) {
    case 'command': {
      const env = answer === null ? {} : { env: { ANSWER: answer } };
      const again = action.repeatable ? { repeatable: true } : {};
      return { name: 'bash', input: { command: action.command, timeoutSeconds: seconds, ...again, ...env } };
    }
    case 'file':
      return { name: 'write', input: { path: action.path, content: action.content } };
    case 'publish':
      return { name: 'publish', input: { path: action.path } };
    case 'ask': {
      const options = action.options.map(({ id, label }) => ({ id, label }));
      return { name: 'ask', input: { question: action.question, ...(options.length > 0 ? { options } : {}) } };
    }
    case 'tool':
      return { name: action.name, input: action.input };
    case 'delegate':
      return { name: 'delegate', input: action.input };
    case 'use_secret':
      return { name: 'use_secret', input: { name: action.name, reason: action.reason } };
    case 'malformed':
      throw new Error('A malformed block is never carried out.');
  }
}

function lastResult({ last }: RunbookState): string {
  return last === null ? '' : `${capital(nameOf(last.block))}: ${last.text}`;
}

function summary(state: RunbookState): string {
  if (state.blocks.length === 0) return `${NOT_AN_AI}${remarksOf(state)}${outputBlock(state)}`;
  const lines = state.blocks.map((block, index) => `- ${capital(nameOf(block))}: ${state.done[index] ?? ''}`);
  return `${lastResult(state)}\n\nThe runbook is finished, ${count(state.blocks)}:\n\n${lines.join('\n')}${remarksOf(state)}\n\n${NOT_AN_AI}${outputBlock(state)}`;
}

function help(state: RunbookState): string {
  const remarks = remarksOf(state);
  return remarks === '' ? HELP : `Nothing was carried out.${remarks}\n\n${HELP}`;
}

/** What was not carried out though it looks as if it should be; empty when there is nothing of that kind. */
function remarksOf({ blocks, remarks, attachments }: RunbookState): string {
  // Beside blocks an attached file is data; only a Markdown text looks like a runbook.
  const unread = attachments.filter((name) => blocks.length === 0 || /\.(md|markdown)$/i.test(name));
  const files = unread.map(
    (name) =>
      `The attached file ${name} lies in the workdir, but its blocks were not carried out; put the text of a runbook into the message itself.`,
  );
  const all = [...remarks, ...files];
  return all.length === 0 ? '' : `\n\nNot carried out:\n\n${all.map((one) => `- ${one}`).join('\n')}`;
}

function nameOf({ number, word, line, action }: Block): string {
  const about = 'path' in action ? action.path : 'name' in action ? action.name : '';
  return `block ${number} (${word}${about && ` ${about}`}, line ${line})`;
}

function count(blocks: Block[]): string {
  return blocks.length === 1 ? '1 block' : `${blocks.length} blocks`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
