// How much of a process one workspace may have at once: every number of it, and why. Who has more waits, the one that waits longest is next (`KeyedSemaphore`), and
// what others have to do comes in between. Rate limits bound how much is asked for in a minute, these how much of it is under way.

/** Of so many places for runs or jobs one is kept for workspaces that have none. */
const ONE_IN = 4;

/**
 * How many of a worker's `places` go to a workspace only while it has none: one in four, at least one of two (docs/decisions/0029). Of a
 * single place none is kept: the workspaces take turns.
 */
export function keptPlaces(places: number): number {
  return places < 2 ? 0 : Math.max(1, Math.floor(places / ONE_IN));
}

/** Occurrences of automations that a worker fires. They use the connections of the requests, of which there are ten (docs/decisions/0037). */
export const OCCURRENCES = 4;

/** Deliveries of providers (docs/decisions/0035). */
export const HOOKS = {
  /** Bodies of one connection that are used: of the ten connections to the database that all requests share, a flood to one has so many. */
  ofConnection: 2,
  /** Bodies beyond 64 KiB that arrive from one address. */
  longOfAddress: 2,
};

/** Requests to webhooks, and of one workspace among them: one whose endpoints all hang leaves the others room (docs/decisions/0059). */
export const DELIVERIES = { atOnce: 64, ofWorkspace: 32 };

/** Requests, before it is known whose they are (docs/decisions/0075). */
export const ARRIVALS = {
  ofCredential: 32,
  /** Whatever credentials they have. */
  ofAddress: 64,
  /**
   * Of those that had to wait, in one round of the event loop. A round takes one new connection (libuv since 1.45), so behind 600 that had just been
   * opened another client's waited for 600 rounds: 3 s where a round had 128 refusals. With these few it is mostly 0.1 s, and on full
   * cores up to 1.7 s, because the process waits for a core in each round.
   */
  inRound: 4,
};

/** Requests of one workspace that are worked on (docs/decisions/0045). */
export const REQUESTS = {
  /** Of the ten connections on which the transactions of requests run: half. */
  writes: 5,
  /**
   * Of the twelve connections for reads. With 16 a GET of a workspace that is alone costs 10 % less, because more statements share a write, but reads
   * that stand still one by one would take all twelve.
   */
  reads: 10,
  /** While its answers are long: each of 1 MiB takes the event loop 10 ms. */
  longReads: 2,
  /** Bodies beyond 16 KiB. */
  parsed: 1,
};

/** Of the two connections for reports, a workspace searches its tasks on so many. */
export const SEARCHES = 1;

/** Of the four connections for events, a workspace reads on so many: two hundred of its streams must not keep those of another waiting. */
export const EVENT_READS = 2;

/** Pieces of files of one workspace that a process takes in, or works on. */
export const FILE_PIECES = 4;

/** Names of one workspace that are looked up, for all uses: forty whose servers are silent hold up none of another workspace. */
export const NAME_LOOKUPS = 4;
