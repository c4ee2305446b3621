import type { IncomingMessage, ServerResponse } from 'node:http';

export class Door {
  constructor(path: string);
  hand(from: IncomingMessage, to: ServerResponse): Promise<void>;
}
