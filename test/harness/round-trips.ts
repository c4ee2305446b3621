import { type Relay, relayTo } from './proxy.js';

/** A relay before a database that counts on the wire how often the service's requests ask it something. */
export interface RoundTrips {
  url: string;
  /** How many round trips `act` made on the connections that are counted; those of other workers and tickers are left out. */
  during(act: () => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
}

/** The pools of requests, by their `application_name`: single reads, and the transactions of writes. */
const OF_REQUESTS = ['millwright read', 'millwright'];
/** Those by which a worker claims a run and records it. */
export const OF_RUNS = ['millwright claims', 'millwright work'];

/** @param applications the pools whose round trips are counted. */
export async function countRoundTrips(target: string, applications = OF_REQUESTS): Promise<RoundTrips> {
  let trips = 0;
  const relay: Relay = await relayTo(target, 0, () => reader(applications, () => (trips += 1)));
  const during = async (act: () => Promise<unknown>): Promise<number> => {
    const before = trips;
    await act();
    return trips - before;
  };
  return { url: relay.url, during, close: () => relay.close() };
}

/**
 * Reads what a client sends: a start-up message that names the application, then messages of a letter and a length. Each
 * simple query (`Q`) and each end of an extended one (`S`, Sync) asks for an answer; those of one write wait together.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
function reader(applications: string[], count: () => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let counted: boolean | null = null;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    let asks = false;
    for (;;) {
      const letters = counted === null ? 0 : 1;
      const length = letters + (rest.length < letters + 4 ? Infinity : rest.readInt32BE(letters));
      if (rest.length < length) break;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (counted === null) counted = applications.includes(applicationOf(message));
      else if (counted && 'QS'.includes(String.fromCharCode(message[0] ?? 0))) asks = true;
    }
    if (asks) count();
  };
}

/** `application_name` of a start-up message: after length and version, names and values that end with NUL. */
function applicationOf(message: Buffer): string {
  const words = message.subarray(8).toString().split('\0');
  return words[words.indexOf('application_name') + 1] ?? '';
}
