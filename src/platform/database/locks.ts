/**
 * The advisory locks of the service, all that there are: any fixed numbers, each the name of one lock, shared by every process on
 * one database. Those from 7,163,000 to 7,163,999 are the service's own; an extension takes others.
 */
export const LOCKS = {
  /** Migrations run once, also when processes boot together. */
  migrations: 7_163_001,
  /** An empty database is furnished once. */
  firstBoot: 7_163_002,
  /** The chore that walks through the storage. */
  unusedBytes: 7_163_011,
  /** The chore that deletes expired idempotency keys. */
  expiredKeys: 7_163_012,
} as const;
