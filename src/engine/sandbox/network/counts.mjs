// What one sandbox does with the network, by host and port: connections, bytes and refusals, told to the service every second (docs/decisions/0055).

/** Hosts that are counted apart, those of them that were but refused, and refusals that are told: a sandbox may make up any number. */
const [MOST_HOSTS, MOST_REFUSED, MOST_TOLD] = [100, 50, 20];
/** Above it no name is (RFC 1035, section 2.3.4). */
const NAME_LENGTH = 253;
/** Characters of a sentence that is told: it may have the name of a header. */
const SENTENCE = 1_000;
/** Of a host of which nothing has come since it was last told. Times in milliseconds since 1970. */
const NOTHING = {
  connections: 0,
  failed: 0,
  refused: 0,
  refusedFor: null,
  bytesIn: 0,
  bytesOut: 0,
  firstAt: null,
  lastAt: null,
};

export class Counts {
  #hosts = new Map();
  #flows = new Set();
  #told = new Set();
  #tell;

  /** @param {(message: { type: 'counted', uses: object[] } | { type: 'refused', refusal: object }) => void} tell */
  constructor(tell) {
    this.#tell = tell;
  }

  /** Counts a connection and its bytes, the last of them at its end. */
  follow(hostname, port, outside) {
    const tally = () => this.#of(hostname, port);
    let [read, written] = [0, 0];
    outside.once('connect', () => (tally().connections += 1));
    const flow = {
      outside,
      count() {
        const { bytesRead, bytesWritten } = outside;
        if (bytesRead === read && bytesWritten === written) return;
        const counted = tally();
        counted.bytesIn += bytesRead - read;
        counted.bytesOut += bytesWritten - written;
        [read, written] = [bytesRead, bytesWritten];
      },
    };
    this.#flows.add(flow);
    outside.on('error', () => undefined);
    outside.once('close', () => this.#flows.delete(flow) && flow.count());
  }

  failed(hostname, port) {
    this.#of(hostname, port).failed += 1;
  }

  /** Of a connection or a request that was refused. What is told at once is each refusal of its kind for the first time. */
  refused(hostname, port, { code, secret = '', message }) {
    const tally = this.#of(hostname, port, MOST_REFUSED);
    tally.refused += 1;
    tally.refusedFor = code;
    const host = hostname.slice(0, NAME_LENGTH);
    const what = `${host}:${port} ${code} ${secret}`;
    if (this.#told.size >= MOST_TOLD || this.#told.has(what)) return;
    this.#told.add(what);
    this.#tell({ type: 'refused', refusal: { host, port, code, reason: message.slice(0, SENTENCE) } });
  }

  /** Tells what has come since the last time. */
  tell() {
    for (const flow of this.#flows) flow.count();
    const uses = [...this.#hosts.values()].filter(({ firstAt }) => firstAt !== null);
    if (uses.length === 0) return;
    this.#tell({ type: 'counted', uses });
    for (const use of uses) Object.assign(use, NOTHING);
  }

  /** Ends all connections, and tells the last of them. */
  close() {
    this.tell();
    for (const { outside } of this.#flows) outside.destroy();
    this.#flows.clear();
  }

  /** From now on with something in it. */
  #of(hostname, port, most = MOST_HOSTS) {
    const known = `${hostname}:${port}`;
    const apart = this.#hosts.has(known) || this.#hosts.size < most;
    const [key, host] = apart ? [known, hostname.slice(0, NAME_LENGTH)] : ['others', 'others'];
    let tally = this.#hosts.get(key);
    if (tally === undefined) this.#hosts.set(key, (tally = { host, port: apart ? port : 0, ...NOTHING }));
    tally.lastAt = Date.now();
    tally.firstAt ??= tally.lastAt;
    return tally;
  }
}
