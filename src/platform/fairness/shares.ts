// What one workspace may use of a process at once: every limit, with its reason. A caller above its limit waits, and the one that waits longest is
// next (`KeyedSemaphore`). Rate limits bound the requests of a minute; these bound the work that is under way.

/** One place in so many is kept for workspaces that run nothing. */
const ONE_IN = 4;

/**
 * How many of a worker's `places` a workspace gets only while it runs nothing there: one in four, and at least one when there are two or more
 * (docs/decisions/0029). A single place is never kept: the workspaces take turns.
 */
export function keptPlaces(places: number): number {
  return places < 2 ? 0 : Math.max(1, Math.floor(places / ONE_IN));
}

/** How many occurrences of automations a worker fires at once. They run on the ten database connections of the requests (docs/decisions/0037). */
export const OCCURRENCES = 4;

/** Deliveries of providers (docs/decisions/0035). */
export const HOOKS = {
  /** How many bodies of one integration are worked on at once. A flood to one takes no more of the ten database connections that all requests share. */
  ofConnection: 2,
  /** How many bodies above 64 KiB one address may be sending at once. */
  longOfAddress: 2,
};

/** Requests to webhooks at once: of all, and of one workspace. When all endpoints of one hang, the others still have room (docs/decisions/0059). */
export const DELIVERIES = { atOnce: 64, ofWorkspace: 32 };

/** Notices to people that a process is sending at once: of all, and of one workspace, whose hooks may all hang. */
export const NOTICES = { atOnce: 16, ofWorkspace: 8 };

/** Lists that are read of hosts of repositories at once: of all, and of one workspace, whose hosts may all hang. Each may be a process of git(1). */
export const HOST_LISTS = { atOnce: 32, ofWorkspace: 4 };

/** Requests, before it is known whose they are (docs/decisions/0075). */
export const ARRIVALS = {
  ofCredential: 32,
  /** Whatever credentials they have. */
  ofAddress: 64,
  /**
   * How many of those that wait go on in one round of the event loop. libuv (since 1.45) accepts one new connection in a round, so a client waits
   * one round for each connection that was opened before its own. With 128 refusals in each round a client behind 600 connections waited
   * 3 s. With four it mostly waits 0.1 s, and up to 1.7 s when all cores are busy.
   */
  inRound: 4,
};

/** Requests of one workspace that are worked on (docs/decisions/0045). */
export const REQUESTS = {
  /** Of the ten connections on which the transactions of requests run: half. */
  writes: 5,
  /**
   * Of the twelve connections for reads. If this were 16, a GET of a workspace that is alone would cost 10 % less, because more statements share a
   * write; but 16 reads that hang would take all twelve connections.
   */
  reads: 10,
  /** Reads while the answers are long: one of 1 MiB takes the event loop 10 ms. */
  longReads: 2,
  /** Bodies beyond 16 KiB. */
  parsed: 1,
};

/** Searches that one workspace runs at once. Two connections serve all reports. */
export const SEARCHES = 1;

/** Reads of events that one workspace runs at once. Four connections serve all: two hundred streams of one workspace do not delay another's. */
export const EVENT_READS = 2;

/** Zips of skills that one workspace has read at once: each is held in memory, 10 MiB at most. */
export const SKILL_ZIPS = 1;

/** Pieces of files of one workspace that a process takes in, or works on. */
export const FILE_PIECES = 4;

/**
 * Folders of tasks of which a worker takes or restores snapshots at once, of all and of one workspace: each is a program that reads, hashes and compresses, in up to
 * 1 GiB, for up to ten minutes. With two of a workspace, two workspaces would stop all others for as long.
 */
export const SNAPSHOTS = { atOnce: 4, ofWorkspace: 1 };

/** Look-ups of names of one workspace at once, for all uses. Forty names with silent servers delay no other workspace. */
export const NAME_LOOKUPS = 4;
