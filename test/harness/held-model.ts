import { type Answer, type ChatRequest, ModelServer } from './model-server.js';
import { until } from './until.js';

export interface Asked {
  request: ChatRequest;
  /** What the users say in it, message by message. */
  said: string[];
  answer: (answer: Answer) => void;
}

/** A model that answers when a test says so. */
export class HeldModel {
  /** Requests that were not looked at yet, oldest first. */
  readonly held: Asked[] = [];
  private constructor(readonly server: ModelServer) {}

  static async start(): Promise<HeldModel> {
    const model = new HeldModel(await ModelServer.start());
    model.server.script = (request) =>
      new Promise((answer) => {
        const said = request.messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
        model.held.push({ request, said, answer });
      });
    return model;
  }

  /** The next request; resolves when it has come. */
  asked(): Promise<Asked> {
    return until('the model to be asked', () => this.held.shift());
  }
}

/** An answer that runs commands, one call each. */
export function bash(...commands: string[]): Answer {
  return { calls: commands.map((command) => ({ name: 'bash', arguments: { command } })) };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('\n');
}
