/**
 * The service's advisory locks. The numbers are arbitrary and fixed: all processes on one database must use the same ones. Those from 7,163,000 to 7,163,999 are the service's own; an extension takes others.
 */
export const LOCKS = {
  /** Migrations run once, also when processes boot together. */
  migrations: 7_163_001,
  /** The first half of a lock's name, the second is the workspace: owners who leave at once do not count on each other. */
  owners: 7_163_003,
  /** The first half of a lock, the second is the person: sign-ins of one person by a provider follow each other. */
  signIn: 7_163_026,
  /** The first half of a lock, the second is the workspace: writes of its directory follow each other. */
  directory: 7_163_027,
  /** An empty database is furnished once. */
  firstBoot: 7_163_002,
  /** The chore that walks through the storage. */
  unusedBytes: 7_163_011,
  /** The chore that deletes expired idempotency keys. */
  expiredKeys: 7_163_012,
  /** The chore that deletes sessions and codes of the console that have ended. */
  endedSessions: 7_163_023,
  /** The chore that forgets jobs that failed long ago. */
  failedJobs: 7_163_017,
  /** The chore that forgets old deliveries. */
  oldDeliveries: 7_163_016,
  /** The chore that deletes old events. */
  oldEvents: 7_163_013,
  /** The chore that removes the stored bytes of deleted workspaces. */
  deletedStorages: 7_163_018,
  /** The chore that forgets old deliveries of webhooks. */
  oldWebhookDeliveries: 7_163_019,
  /** The chore that forgets old notices to people. */
  oldPersonalNotices: 7_163_024,
  /** Processes that take deliveries of webhooks follow each other. */
  webhookClaims: 7_163_007,
  /** The log of events is moved once after a restore. */
  restoredLog: 7_163_004,
  /** Partitions of the audit log are made once. */
  auditMonths: 7_163_005,
  /** `secret-key rotate`, alone, and backups, side by side. */
  secretKey: 7_163_009,
  /** One transaction seals at a time. */
  auditSeals: 7_163_006,
  /** The chore that seals rows of the audit log. */
  sealing: 7_163_021,
  /** The chore that adds up the use of days that are over. */
  usageDays: 7_163_025,
  /** The first half of a lock's name, the second is the workspace: who adds up its days, and late entries. */
  usageSums: 7_163_008,
  /** The chore that compares what workspaces have paid with the payment provider. */
  payments: 7_163_031,
  /** The chore that ends plans whose payment is late for too long. */
  latePayments: 7_163_032,
  /** The chore that reports costs to the payment provider. */
  meterReports: 7_163_033,
  /** The chore that keeps the months of the audit log. */
  auditKeeping: 7_163_022,
} as const;
