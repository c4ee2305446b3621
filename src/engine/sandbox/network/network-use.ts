import type { NetworkRefusal, RefusalCode } from './refusals.js';

/** The network of a session (reference §4). */
export interface NetworkReport {
  /** What its commands may reach, as the operator wrote it. */
  hosts: readonly string[];
  /** What they were refused: the first 20, each of its kind once. More come at the end. */
  refused: readonly NetworkRefusal[];
}

/** What came of one host in a while. Beyond 100 hosts of a session the rest of them is the host `others` with port 0. */
export interface NetworkUse {
  host: string;
  port: number;
  /** Connections that were made, and those that could not be. */
  connections: number;
  failed: number;
  /** Connections, and requests with a placeholder, that were refused, and why the last of them was. */
  refused: number;
  refusedFor: RefusalCode | null;
  /** To the sandbox, and from it. */
  bytesIn: number;
  bytesOut: number;
  firstAt: Date;
  lastAt: Date;
}
