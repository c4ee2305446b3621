// A model server on 127.0.0.1 that answers what a player says, in the form in which it is asked.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { wireOf } from './wires.mjs';

const BYTES_PER_TOKEN = 4;

export class PlayerServer {
  #game = null;

  static async start() {
    const started = new PlayerServer();
    started.server = createServer((request, response) => {
      started.#serve(request, response).catch((error) => {
        started.#game?.fail(error);
        response.destroy();
      });
    });
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    started.url = `http://127.0.0.1:${started.server.address().port}/v1`;
    return started;
  }

  /** What comes from now on is played by this one: one task at a time. Returns its {@link Game}, which counts. */
  begin(player) {
    this.#game = new Game(player);
    return this.#game;
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (request.method !== 'POST') return response.end('{"object":"list","data":[],"models":[]}');
    if (this.#game === null) throw new Error('No game has begun.');
    const wire = wireOf(request.url);
    const asked = wire.read(JSON.parse(bytes.toString()));
    const inputTokens = Math.ceil(bytes.length / BYTES_PER_TOKEN);
    const answer = this.#game.answer(asked, inputTokens);
    const written = answer.text.length + answer.calls.reduce((sum, one) => sum + one.arguments.length, 0);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(wire.events(answer, { inputTokens, outputTokens: Math.ceil(written / BYTES_PER_TOKEN) }));
  }
}

/** One task as the model sees it: each answer follows from the results of the answer before. */
export class Game {
  steps = 0;
  inputTokens = 0;
  error = null;
  #player;
  /** The answer under way: a text, or calls that wait for their results. */
  #last = null;

  constructor(player) {
    this.#player = player;
  }

  fail(error) {
    this.error ??= error;
  }

  /**
   * The answer to a request: whether it offers tools, and the results in it (call id → text). What is asked once more, because the
   * answer did not arrive, is answered once more.
   */
  answer({ offersTools, results }, inputTokens) {
    this.inputTokens += inputTokens;
    // Titles and summaries are asked without tools: they cost, and are no part of the game.
    if (!offersTools) return { text: 'A repair', calls: [] };
    this.steps++;
    const last = this.#last;
    const goesOn = last === null || (last.calls.length > 0 && last.calls.every(({ id }) => results.has(id)));
    if (!goesOn) return last;
    const { value, done } = this.#player.next(last?.calls.map(({ id }) => results.get(id)));
    this.#last = done
      ? { text: value, calls: [] }
      : { text: '', calls: value.map((one, index) => ({ ...one, id: `call_${this.steps}_${index}` })) };
    return this.#last;
  }
}
