import type { ProofStatement } from './statement.js';

/** One line that says what a proof proves. */
export function summaryOf({ subject, predicate }: ProofStatement, patch: 'matches' | 'not given' | 'none'): string {
  const { result, configuration, passedTests, failedTests, millwright } = predicate;
  const before = new Map(millwright.checks.filter(({ phase }) => phase === 'before').map(({ name, status }) => [name, status]));
  const passed = passedTests.map((name) => (before.get(name) === 'failed' ? `${name} (failed before)` : name));
  const failed = failedTests.map((name) => (isRequired(name) ? name : `${name} (not required)`));
  const outcome = [
    ...(passed.length > 0 ? [`${passed.join(', ')} passed`] : []),
    ...(failed.length > 0 ? [`${failed.join(', ')} failed`] : []),
  ].join('; ');
  const kept = new Set(millwright.checks.flatMap(({ protectedChanged }) => protectedChanged)).size;
  const protectedPaths = kept === 0 ? '' : ` ${kept} protected ${kept === 1 ? 'path was' : 'paths were'} changed, and put back for the checks.`;
  const of = `Turn ${millwright.turn} of task ${millwright.task}, ended ${millwright.finishedAt}, on ${subject.map(subjectInWords).join(' and ')}.`;
  return `${result}: ${outcome}. ${of}${protectedPaths} ${PATCHES[patch]}`;

  function isRequired(name: string): boolean {
    return configuration.find((one) => one.name === `check/${name}`)?.annotations?.['required'] !== false;
  }
} // prettier-ignore

const PATCHES = {
  matches: 'The patch that was given is the one that was checked.',
  'not given': 'No patch was given, so it is proven of no file of yours.',
  none: 'It is of no patch.',
};

function subjectInWords({ name, digest }: ProofStatement['subject'][number]): string {
  const { sha256 } = digest;
  return sha256 === undefined ? name : `${name} (sha256 ${sha256.slice(0, 16)}…)`;
}
