import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What a model call is made of, as it was sent (reference §15, docs/decisions/0048). */
export class Context1796515200024 extends ForwardMigration {
  readonly sql = `
-- The arguments of a call as JSON text with the keys in the model's order, which jsonb does not keep. Null for calls from before.
ALTER TABLE tool_invocations ADD COLUMN input_text text;

-- The tokens of the last step, prompt and answer; null after a cut, and before the first step.
ALTER TABLE tasks ADD COLUMN context_tokens bigint;

-- What the model is not sent any more.
CREATE TABLE context_cuts (
  task_id uuid NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  -- The place of the message that tells of it.
  seq int NOT NULL,
  kind text NOT NULL CONSTRAINT context_cuts_kind_check CHECK (kind IN ('results', 'summary')),
  -- The last message that it concerns, and of 'results' how many of its calls.
  upto_message_id uuid NOT NULL,
  upto_calls int NOT NULL,
  -- Of 'summary': what stands for the messages.
  summary text,
  -- The last message at that time, and the tokens of all that is sent up to it.
  through_message_id uuid NOT NULL,
  tokens_after bigint NOT NULL,
  PRIMARY KEY (task_id, seq)
);
`;
}
