import { StringDecoder } from 'node:string_decoder';
import { type Fields, text } from './fields.js';

/** Server-sent events (HTML standard §9.2.6) out of bytes that are cut anywhere: the data of each event. */
export class EventStream {
  private readonly decoder = new StringDecoder('utf8');
  /** Of the line that has not ended. Pieces, because a line of 20 MB put together piece by piece is copied as often. */
  private line: string[] = [];
  private data: string[] = [];
  /** The last character was a CR: an LF after it is the same end of a line. */
  private afterReturn = false;
  private begun = false;

  add(chunk: Uint8Array): string[] {
    return this.read(this.decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
  }

  /** The event that no blank line follows. */
  end(): string[] {
    return [...this.read(this.decoder.end()), ...this.read('\n\n')];
  }

  private read(given: string): string[] {
    let piece = given;
    if (piece === '') return [];
    if (!this.begun && piece.startsWith('\uFEFF')) piece = piece.slice(1);
    this.begun = true;
    if (this.afterReturn && piece.startsWith('\n')) piece = piece.slice(1);
    this.afterReturn = false;
    const events: string[] = [];
    const ends = /\r\n|\n|\r/g;
    let from = 0;
    for (let found = ends.exec(piece); found !== null; found = ends.exec(piece)) {
      this.line.push(piece.slice(from, found.index));
      from = ends.lastIndex;
      this.afterReturn = found[0] === '\r' && from === piece.length;
      const event = this.take(this.line.join(''));
      this.line = [];
      if (event !== null) events.push(event);
    }
    if (from < piece.length) this.line.push(piece.slice(from));
    return events;
  }

  /** The data of the event that the line ends. Comments and all other fields say nothing here: the events name their type in their data. */
  private take(line: string): string | null {
    if (line.startsWith('data:')) this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.data.length === 0) return null;
    const event = this.data.join('\n');
    this.data = [];
    return event;
  }
}

/** Events as the text of a stream; with their names where they have a type. */
export function streamOf(events: readonly Fields[], isNamed: boolean): string {
  return events
    .map((event) => `${isNamed ? `event: ${text(event['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');
}
