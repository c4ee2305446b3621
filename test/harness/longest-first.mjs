// The order of the test files. In a clean checkout Jest knows no durations and begins with the largest file: a short file that
// takes a minute or more would begin last, and run alone.
import { statSync } from 'node:fs';
import { basename } from 'node:path';

const LONGEST = [
  'crash-loop',
  'without-redis',
  'controls',
  'takeover',
  'database-restarts',
  'quiet',
  'killed-and-stopped',
  'cancel-installations',
  'many-tasks',
  // Of npm test: those that take more than ten seconds of a quiet machine.
  'pages',
  'operator-verbs',
  'fairness',
  'operator-line',
  'cross-workspace',
  'context',
  'signals',
  'workers',
  'event-handlers',
  'repository-push',
  'injections',
  'cursors',
  'repository-push-killed',
  'locked-rows',
  'sandbox-limits',
  'tour',
  'task-deletion',
  'operator-answers',
  'clients-command',
  'job-signals',
  'repositories',
  'sandbox-life',
  'visibility',
  'audit-chain',
  'rate-limit-addresses',
  'backlog',
  'operator-command',
  'sandbox-isolation',
  'backup',
  'killed-alone',
];

const rank = ({ path }) => {
  const place = LONGEST.indexOf(basename(path, '.spec.ts'));
  return place < 0 ? LONGEST.length : place;
};

export default class LongestFirst {
  sort(tests) {
    const sizes = new Map(tests.map(({ path }) => [path, statSync(path).size]));
    return [...tests].sort((a, b) => rank(a) - rank(b) || sizes.get(b.path) - sizes.get(a.path));
  }

  /** Every so-many-th of that order, so that each part gets its share of the long ones. */
  shard(tests, { shardIndex, shardCount }) {
    return this.sort(tests).filter((_, place) => place % shardCount === shardIndex - 1);
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
