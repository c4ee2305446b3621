import { newId } from '../../../platform/database/ids.js';
import type { ConversationMessage, StoredPart } from '../../models/conversation.js';
import { OUTPUT_FAULT, outputFault } from '../../models/nudges.js';
import type { AgentOutcome } from '../agent-engine.js';
import { markedTruncated, wholeAnswer } from '../truncated-answer.js';
import type { ModelAnswer } from '../model-answer.js';
import { endOf, type Failure, withFailure } from '../turn-outcomes.js';
import { type CheckedOutput, outputOf, type OutputSchema } from './output-schema.js';

type Why = Omit<Failure, 'type'>;

/** It quotes nothing of the answer, because webhooks send it. */
const OUTPUT_INVALID: Why = {
  code: 'output_invalid',
  message: 'The last answer does not fit the outputSchema of the task, also after the model was told why.',
  retryable: false,
};

/**
 * Whether the last answer of a turn fits the schema of its task. An answer that does not is recorded with what is wrong with it, so that
 * the one round in which the model may mend it is counted by the record. Of an answer that fits nothing is recorded: it is read again.
 */
export class TurnOutput {
  private last: { text: string; checked: CheckedOutput } | null = null;

  /** @param schema null: the task has none, and nothing is checked. */
  constructor(
    private readonly schema: OutputSchema | null,
    private readonly workspaceId: string,
  ) {}

  /**
   * The parts of an answer as they are to be recorded, and why the turn fails with them.
   * @param broken why it fails whatever the answer is.
   */
  async recorded(
    conversation: readonly ConversationMessage[],
    { parts, calls, truncated }: Pick<ModelAnswer, 'parts' | 'calls' | 'truncated'>,
    broken: Why | null,
  ): Promise<{ parts: StoredPart[]; failure: Why | null }> {
    if (broken !== null) return { parts: withFailure(parts, broken), failure: broken };
    if (truncated) return { parts: markedTruncated(parts), failure: null };
    const fault = calls.length > 0 ? null : await this.faultOf(conversation, parts);
    if (fault === null) return { parts, failure: null };
    const sinceAsked = conversation.slice(conversation.findLastIndex(({ role }) => role === 'user') + 1);
    const errors: StoredPart = { type: 'data', name: OUTPUT_FAULT, id: newId(), data: { errors: fault } };
    const unfit = [...parts, errors];
    return sinceAsked.some((message) => outputFault(message) !== null)
      ? { parts: withFailure(unfit, OUTPUT_INVALID), failure: OUTPUT_INVALID }
      : { parts: unfit, failure: null };
  }

  /** As {@link endOf}, with the output. Null also when the model is to mend its answer. */
  async end(conversation: readonly ConversationMessage[], failure: Why | null): Promise<AgentOutcome | null> {
    const outcome = endOf(conversation, failure);
    if (outcome?.type !== 'completed') return outcome;
    const last = conversation.at(-1);
    if (this.schema === null || last === undefined) return outcome;
    if (outputFault(last) !== null) return null;
    const checked = await this.checked(outcome.text);
    if (checked === null) return outcome;
    return 'output' in checked ? { ...outcome, output: checked.output } : { type: 'failed', ...OUTPUT_INVALID };
  }

  private async faultOf(conversation: readonly ConversationMessage[], parts: StoredPart[]): Promise<string | null> {
    const answer: ConversationMessage = { id: '', role: 'assistant', parts, invocations: [] };
    const checked = await this.checked(wholeAnswer([...conversation, answer]));
    return checked !== null && 'fault' in checked ? checked.fault : null;
  }

  private async checked(text: string | null): Promise<CheckedOutput | null> {
    if (this.schema === null || text === null) return null;
    if (this.last?.text !== text) this.last = { text, checked: await outputOf(this.schema, text, this.workspaceId) };
    return this.last.checked;
  }
}
