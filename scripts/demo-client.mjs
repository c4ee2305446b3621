// A client of the API, as anyone would write it: bearer key, idempotency keys, bounded retries.
import { setTimeout as delay } from 'node:timers/promises';

const TRIES = 5;
const RETRY_STATUS = [429, 502, 503];

export class Client {
  #stop = new AbortController();

  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  /** Ends what is under way, and everything later, with this reason. */
  abort(reason) {
    this.#stop.abort(reason);
  }

  async pause(ms) {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => this.#stop.signal.throwIfAborted());
  }

  async get(path) {
    return (await this.#send('GET', path, {})).json();
  }

  async bytes(path) {
    return Buffer.from(await (await this.#send('GET', path, {})).arrayBuffer());
  }

  async delete(path) {
    return (await this.#send('DELETE', path, {})).json();
  }

  /** The same key on every try: however often it is sent, it happens once. */
  async post(path, idempotencyKey, body) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    return (await this.#send('POST', path, { headers, body: JSON.stringify(body) })).json();
  }

  async upload(name, type, content) {
    const body = new FormData();
    body.append('file', new Blob([content], { type }), name);
    return (await this.#send('POST', '/v1/uploads', { body })).json();
  }

  async #send(method, path, { headers = {}, body }) {
    for (let attempt = 1; ; attempt += 1) {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(30_000)]);
      const authorization = { Authorization: `Bearer ${this.key}` };
      const request = { method, headers: { ...authorization, ...headers }, body, signal };
      const response = await fetch(this.url + path, request).catch((error) => error);
      this.#stop.signal.throwIfAborted();
      if (response.ok) return response;
      const again = response instanceof Error || RETRY_STATUS.includes(response.status);
      if (!again || attempt === TRIES) throw await failure(method, path, response);
      await this.pause(waitMs(response, attempt));
    }
  }
}

function waitMs(response, attempt) {
  const asked = response instanceof Error ? 0 : Number(response.headers.get('retry-after') ?? 0) * 1000;
  return Math.min(30_000, Math.max(asked, 200 * 2 ** attempt));
}

async function failure(method, path, response) {
  if (response instanceof Error) {
    return new Error(`${method} ${path}: ${response.cause?.message ?? response.message}`, { cause: response });
  }
  const text = await response.text();
  let said = text;
  try {
    said = JSON.parse(text).error.message;
  } catch {
    // Not the service's own error: shown as it came.
  }
  return new Error(`${method} ${path} was answered with ${response.status}: ${said}`);
}
