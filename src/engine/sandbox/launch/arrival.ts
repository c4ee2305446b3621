// In which order two streams came, as far as it is worth remembering.
import type { StreamOrder } from '../run-result.js';
import type { Output } from './output.js';

/** Changes from one stream to the other that are remembered from the beginning, and as many from the end. */
const CHANGES = 200;

/** Notes how two streams take turns, in bounded memory however often they do. */
export class Arrival {
  /** Bytes of a stream that had come when the other took over: of the first, the second, the first, and so on. */
  private readonly marks = [0];

  /** `stream` 0 or 1 has so many bytes by now. */
  note(stream: 0 | 1, bytes: number): void {
    const last = this.marks.length - 1;
    if (last % 2 === stream) this.marks[last] = bytes;
    else this.marks.push(bytes);
    // The turns in the middle become one of each stream.
    if (this.marks.length > 2 * CHANGES) this.marks.splice(CHANGES, 2);
  }

  /**
   * Lengths of the turns in lines, alternately of the first and of the second stream. What is not named comes behind: the rest of the
   * first, then of the second. Null when that is all there is to say.
   */
  turns(outputs: readonly [Output, Output]): number[] | null {
    // Of two changes, all is before the first, or nothing.
    if (this.marks.length < 3 && this.marks[0] !== 0) return null;
    const lines = outputs.map((output, stream) =>
      output.linesAt(this.marks.filter((_, index) => index % 2 === stream)),
    );
    const recorded = [0, 0];
    const turns: number[] = [];
    for (let index = 0; index < this.marks.length; index++) {
      const stream = index % 2;
      const upto = lines[stream]?.[index >> 1] ?? 0;
      const length = upto - (recorded[stream] ?? 0);
      recorded[stream] = upto;
      // A turn without a line of its own belongs to the turns around it.
      if (length > 0 || index === 0) append(turns, stream, length);
    }
    // The last turn, and of the second stream also the one before, are what would come anyway.
    turns.length -= turns.length % 2 === 1 ? 1 : 2;
    return turns.length === 0 ? null : turns;
  }
}

/** What a result says of its streams. */
export function streamsOf(arrival: Arrival, outputs: readonly [Output, Output]): { streams?: StreamOrder } {
  const turns = arrival.turns(outputs);
  const [out, err] = [outputs[0].gap, outputs[1].gap];
  if (turns === null && out === null && err === null) return {};
  return {
    streams: { ...(turns === null ? {} : { turns }), ...(out === null && err === null ? {} : { gaps: [out, err] }) },
  };
}

function append(turns: number[], stream: number, length: number): void {
  const last = turns.length - 1;
  if (last >= 0 && last % 2 === stream) turns[last] = (turns[last] ?? 0) + length;
  else turns.push(length);
}
