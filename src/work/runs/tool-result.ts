import type { ToolResult } from '../../engine/models/conversation.js';

/** A result as its row has it. */
export function told(result: ToolResult) {
  const output = result.status === 'success' ? JSON.stringify(result.output) : null;
  const forModel = result.status === 'denied' ? undefined : result.forModel;
  return {
    state: result.status,
    output,
    error: errorText(result),
    forModel: forModel === undefined ? null : JSON.stringify(forModel),
  };
}

/** What the model reads in place of an output. */
function errorText(result: ToolResult): string | null {
  switch (result.status) {
    case 'success':
      return null;
    case 'error':
      return result.error;
    case 'denied':
      return result.reason;
  }
}
