// The order of the long suites. In a clean checkout Jest knows no durations and begins with the largest file: a short file that
// takes minutes would begin last, and run alone.
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
];

const rank = ({ path }) => {
  const place = LONGEST.indexOf(basename(path, '.spec.ts'));
  return place < 0 ? LONGEST.length : place;
};

export default class LongestFirst {
  sort(tests) {
    return [...tests].sort((a, b) => rank(a) - rank(b) || a.path.localeCompare(b.path));
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
