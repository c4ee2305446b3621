// What a program tells of its calls over the protocol (reference §30).

/** News of a call. */
export interface CallUpdate {
  toolCallId: string;
  status: string | null;
  /** What it came to so far; null: it says nothing of that. */
  text: string | null;
  /** What it has printed since the last time. */
  printed: string | null;
}

/** Null: the update is of something else. */
export function callUpdateIn(update: unknown): CallUpdate | null {
  if (typeof update !== 'object' || update === null) return null;
  const { sessionUpdate, toolCallId, status, content, rawOutput, _meta } = update as Record<string, unknown>;
  if (sessionUpdate !== 'tool_call_update' && sessionUpdate !== 'tool_call') return null;
  if (typeof toolCallId !== 'string') return null;
  // What a program shows may be dressed for people, in a fence for instance; as a text of its own it is as it came.
  const text = typeof rawOutput === 'string' ? rawOutput : (textOf(content) ?? rawText(rawOutput));
  return { toolCallId, status: typeof status === 'string' ? status : null, text, printed: deltaIn(_meta) };
}

/** The texts among what a call has come to; null without any. */
function textOf(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const texts = (content as Record<string, unknown>[]).flatMap((one) => {
    const inner = one?.['type'] === 'content' ? (one['content'] as Record<string, unknown> | null) : null;
    return inner?.['type'] === 'text' && typeof inner['text'] === 'string' ? [inner['text']] : [];
  });
  return texts.length === 0 ? null : texts.join('\n');
}

function rawText(output: unknown): string | null {
  if (output === undefined || output === null) return null;
  const { output: text } = output as { output?: unknown };
  // Figures alone, such as an exit code, are no result: the program tells its model more.
  return typeof text === 'string' ? text : null;
}

/** Codex tells so what a command prints. */
function deltaIn(meta: unknown): string | null {
  const { terminal_output_delta: delta } = (meta ?? {}) as { terminal_output_delta?: { data?: unknown } | null };
  return typeof delta?.data === 'string' ? delta.data : null;
}
