import type { Readable, Writable } from 'node:stream';

export interface WireRecord {
  /** One letter. */
  type: string;
  body: Buffer;
}

export class Wire {
  constructor(input: Readable, output: Writable);
  /** Resolves when the other side may be sent more. */
  send(type: string, body?: string | Buffer): Promise<void>;
  /** Null at the end. */
  receive(): Promise<WireRecord | null>;
}
