// A title for a task, made by its model beside the first answer (reference §15, docs/decisions/0083).
import { readFileSync } from 'node:fs';
import { newId } from '../../platform/database/ids.js';
import { type ConversationMessage, textOf } from '../models/conversation.js';
import type { ModelRequest } from '../models/model-provider.js';
import type { AgentEvent, AgentFeedback, AgentOutcome } from './agent-engine.js';
import { saidIn } from './context/summary.js';
import type { CalledAnswer } from './model-caller.js';

const TITLE_PROMPT = readFileSync(new URL('./title-prompt.txt', import.meta.url), 'utf8').trim();
/** Characters of the first message that the model reads. */
const READ = 4_000;
/** Characters of its answer, with what it thinks: more is no title. */
export const TITLE_ANSWER = 20_000;

type Title = Extract<AgentEvent, { type: 'title' }>;
type Steps = AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback>;
/** Asks the model; aborted when nobody waits for the answer any more. */
export type TitleAsk = (
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'signal'>,
) => Promise<CalledAnswer>;

/**
 * The call of the model. Nobody waits for it: its title is there when the first answer is, or it is given up. So it slows nothing, and
 * fails in silence.
 */
class TitleCall {
  private title: Title | null = null;
  private readonly over = new AbortController();

  constructor(
    first: ConversationMessage,
    ask: TitleAsk,
    private readonly signals: readonly AbortSignal[],
    failed: (error: Error) => void,
  ) {
    for (const signal of signals) signal.addEventListener('abort', this.giveUp, { once: true });
    const text = saidIn(first).slice(0, READ).toWellFormed();
    const message = { id: newId(), role: 'user' as const, parts: [{ type: 'text' as const, text }], invocations: [] };
    ask({ system: TITLE_PROMPT, messages: [message], tools: [], signal: this.over.signal }).then(
      ({ parts, usage, model, failure, truncated }) => {
        const of = failure === null && !truncated ? textOf(parts) : '';
        this.title = { type: 'title', text: of, usage, model };
      },
      (error: unknown) => {
        if (!this.over.signal.aborted) failed(error as Error);
      },
    );
  }

  /** What has come by now, once. The call is over. */
  take(): Title | null {
    this.giveUp();
    const { title } = this;
    this.title = null;
    return title;
  }

  readonly giveUp = (): void => {
    for (const signal of this.signals) signal.removeEventListener('abort', this.giveUp);
    this.over.abort();
  };
}

/**
 * The steps of a turn, and before the first of them a title for the task.
 * @param spent called with what the title has cost.
 */
export async function* withTitle(
  steps: Steps,
  about: { first: ConversationMessage; ask: TitleAsk; signals: readonly AbortSignal[]; failed: (error: Error) => void },
  spent: (title: Title) => void,
): Steps {
  const call = new TitleCall(about.first, about.ask, about.signals, about.failed);
  try {
    let turn = await steps.next();
    while (turn.done !== true) {
      const title = turn.value.type === 'step' ? call.take() : null;
      if (title !== null) {
        spent(title);
        // What is answered to it, the answer to the step says too.
        yield title;
      }
      turn = await steps.next(yield turn.value);
    }
    return turn.value;
  } finally {
    call.giveUp();
    await steps.return({ type: 'completed', text: '' });
  }
}
