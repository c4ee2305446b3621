import { createHash } from 'node:crypto';
import type { CheckFact, ProofFacts } from '../../src/resources/proofs/proof-facts.js';

export const PATCH = 'diff --git a/sum.js b/sum.js\n--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-a - b\n+a + b\n';
export const COMMIT = 'd20ace7968ba43c0219f62d71334c1095bab1602';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const CHECK: CheckFact = {
  name: 'test',
  command: 'npm test',
  required: true,
  protect: ['test/**', 'package.json'],
  network: false,
  phase: 'after',
  round: 0,
  status: 'passed',
  exitCode: 0,
  durationMs: 1234,
  outputSha256: sha256('ok\n'),
  protectedChanged: [],
};

/** A check as it was seen; what is given goes before. */
export const checkFact = (given: Partial<CheckFact> = {}): CheckFact => ({ ...CHECK, ...given });

/** Of a task that made a failing test pass. */
export function proofFacts(given: Partial<ProofFacts> = {}): ProofFacts {
  return {
    taskId: '01a2047b-2b2f-71b6-93df-54922585c41e',
    turn: 1,
    workspace: { id: '01a2047b-2b2f-71b6-93df-000000000000', slug: 'acme' },
    model: 'runbook',
    repository: { url: 'https://github.com/acme/sum.git', commit: COMMIT },
    workdirSha256: null,
    patchSha256: sha256(PATCH),
    agent: null,
    environment: { slug: 'node', version: 3 },
    checks: [
      checkFact({ phase: 'before', status: 'failed', exitCode: 1 }),
      checkFact(),
      checkFact({ name: 'lint', command: 'npm run lint', required: false, protect: [] }),
    ],
    names: ['test', 'lint'],
    result: 'passed',
    finishedAt: new Date('2026-11-29T23:00:00.000Z'),
    ...given,
  };
}
