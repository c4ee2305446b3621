// How the service and the program that reads or writes a folder talk over its standard input and output: records of a letter, a length
// and bytes. A pipe holds a record back until the other side reads, so neither side runs ahead of the other.
import { once } from 'node:events';

const HEAD = 5;

export class Wire {
  #input;
  #output;
  #chunks = [];
  #size = 0;

  constructor(input, output) {
    this.#input = input[Symbol.asyncIterator]();
    this.#output = output;
  }

  async send(type, body = '') {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const head = Buffer.allocUnsafe(HEAD);
    head.writeUInt8(type.charCodeAt(0));
    head.writeUInt32LE(bytes.length, 1);
    this.#output.write(head);
    if (!this.#output.write(bytes)) await once(this.#output, 'drain');
  }

  async receive() {
    const head = await this.#take(HEAD);
    if (head === null) return null;
    const body = await this.#take(head.readUInt32LE(1));
    return body === null ? null : { type: String.fromCharCode(head[0]), body };
  }

  async #take(length) {
    while (this.#size < length) {
      const { done, value } = await this.#input.next();
      if (done) return null;
      this.#chunks.push(value);
      this.#size += value.length;
    }
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#chunks = [all.subarray(length)];
    this.#size -= length;
    return all.subarray(0, length);
  }
}
