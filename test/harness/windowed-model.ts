// A scripted model with a window: it counts what it is sent, and refuses what is longer, as vLLM does.
import type { Answer, ChatMessage, ChatRequest, Script } from './model-server.js';

/** Bytes of a request for one token: fewer than the service guesses. */
const BYTES_PER_TOKEN = 3.2;

export class WindowedModel {
  /** Requests that were answered, summaries among them. */
  readonly answered: { request: ChatRequest; tokens: number }[] = [];
  refused = 0;

  constructor(
    public window: number,
    /** The answer of a step, which is not counted here; a request without tools asks for a summary. */
    private readonly step: (request: ChatRequest) => Answer | Promise<Answer>,
    /** In its refusal it says how much it can read. */
    private readonly tells = true,
  ) {}

  readonly script: Script = async (request) => {
    const tokens = Math.ceil(Buffer.byteLength(JSON.stringify(request)) / BYTES_PER_TOKEN);
    if (tokens > this.window) {
      this.refused += 1;
      const limit = `This model's maximum context length is ${this.window} tokens. However, your request has ${tokens}.`;
      const message = this.tells ? limit : 'Your input exceeds the context window of this model.';
      return { status: 400, body: JSON.stringify({ error: { message } }) };
    }
    this.answered.push({ request, tokens });
    // No two notes are alike.
    const notes = `Goal: all steps.\nDone: ${this.summaries} times noted.`;
    const answer = request.tools === undefined ? { text: notes } : await this.step(request);
    return { usage: { input: tokens, output: 60 }, ...answer };
  };

  /** The requests of steps. */
  get steps(): ChatRequest[] {
    return this.answered.flatMap(({ request }) => (request.tools === undefined ? [] : [request]));
  }

  get summaries(): number {
    return this.answered.length - this.steps.length;
  }
}

/** How often a request does not begin with the whole one before it. */
export function breaksOf(requests: ChatRequest[]): number {
  const texts = requests.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  return texts.slice(1).filter((next, at) => (texts[at] ?? []).some((text, place) => next[place] !== text)).length;
}

/** The first thing that is wrong with the pairs of calls and results: a result stands behind its step, in the order of the calls. Null: nothing. */
export function unpaired(messages: ChatMessage[]): string | null {
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id: id = '' } of messages) {
    if (role === 'tool' && open[0] !== id) return `the result ${id} has no call`;
    if (role === 'tool') open = open.slice(1);
    else if (open.length > 0) return `the calls ${open.join(', ')} have no results`;
    else open = tool_calls.map((call) => call.id);
  }
  return open.length > 0 ? `the calls ${open.join(', ')} have no results` : null;
}
