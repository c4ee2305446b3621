// The statement of a proof: in-toto Statement v1 with the predicate test-result v0.1 (reference §26, docs/decisions/0102).
import { createHash } from 'node:crypto';
import type { CheckFact, ProofFacts } from './proof-facts.js';

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

/** The end of a workspace's audit log: what it was sealed with last. */
export interface AuditSeal {
  seq: number;
  /** Hexadecimal. */
  hash: string;
}

/**
 * Throws where the facts contradict each other: nothing is signed that a reader could take for more than was seen.
 * @param version of Millwright. @param audit null where nothing of the workspace is sealed yet.
 */
export function statementOf(facts: ProofFacts, version: string, audit: AuditSeal | null) {
  const last = lastRounds(facts);
  requireConsistent(facts, last);
  const namesOf = (passed: boolean) => last.filter(({ status }) => (status === 'passed') === passed).map(({ name }) => name);
  const { taskId, turn, workspace, finishedAt } = facts;
  return {
    _type: STATEMENT_TYPE,
    subject: subjectsOf(facts),
    predicateType: PREDICATE_TYPE,
    predicate: {
      result: facts.result === 'passed' ? 'PASSED' : 'FAILED',
      configuration: configurationOf(facts, version),
      passedTests: namesOf(true),
      failedTests: namesOf(false),
      millwright: {
        task: taskId,
        turn,
        workspace: workspace.slug,
        finishedAt: finishedAt.toISOString(),
        checks: facts.checks.filter((check) => !last.some((one) => isAnother(one, check))).map(seen),
        audit,
      },
    },
  };
} // prettier-ignore

function subjectsOf({ patchSha256, repository, workdirSha256 }: ProofFacts) {
  return [
    ...(patchSha256 === null ? [] : [{ name: 'changes.patch', digest: { sha256: patchSha256 } }]),
    ...(repository === null ? [] : [{ name: `git:${repository.commit}`, digest: { gitCommit: repository.commit } }]),
    ...(workdirSha256 === null ? [] : [{ name: 'workdir', digest: { sha256: workdirSha256 } }]),
  ];
}

/** What the checks ran with, as in-toto's ResourceDescriptors. */
function configurationOf({ checks, repository, environment, agent, model }: ProofFacts, version: string) {
  const commands = [...new Map(checks.map((check) => [check.name, check])).values()];
  return [
    ...commands.map(({ name, command, required, protect, network }) => ({
      name: `check/${name}`,
      digest: { sha256: createHash('sha256').update(command).digest('hex') },
      content: Buffer.from(command).toString('base64'),
      mediaType: 'text/x-shellscript',
      annotations: { required, protect: [...protect], network },
    })),
    ...(repository === null ? [] : [{ name: 'repository', uri: `git+${repository.url}@${repository.commit}`, digest: { gitCommit: repository.commit } }]),
    ...(environment === null ? [] : [{ name: 'environment', uri: `millwright:environment/${environment.slug}@${environment.version}` }]),
    ...(agent === null ? [] : [{ name: 'instructions', uri: `millwright:agent/${agent.slug}@${agent.version}` }]),
    { name: 'agent', uri: `pkg:generic/millwright@${version}` },
    { name: 'model', uri: `millwright:model/${encodeURIComponent(model)}` },
  ];
} // prettier-ignore

/** With another command it is another check, whatever its name is. */
const isAnother = (one: CheckFact, other: CheckFact) => one.name === other.name && one.command !== other.command;

const seen = ({ name, phase, round, status, exitCode, durationMs, outputSha256, protectedChanged }: CheckFact) => ({
  name,
  phase,
  round,
  status,
  exitCode,
  durationMs,
  outputSha256,
  protectedChanged: [...protectedChanged],
});

/** Of each check the one that counts: after the turn, in the last round. */
function lastRounds({ checks, names }: ProofFacts): CheckFact[] {
  const last = new Map<string, CheckFact>();
  for (const check of checks) {
    if (check.phase === 'after' && names.includes(check.name) && check.round >= (last.get(check.name)?.round ?? 0))
      last.set(check.name, check);
  }
  return [...last.values()];
}

const SHA256 = /^[0-9a-f]{64}$/;
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

function requireConsistent({ repository, workdirSha256, patchSha256, checks, result }: ProofFacts, last: CheckFact[]) {
  const wrong = (what: string): never => {
    throw new Error(`No proof is made of facts that contradict each other: ${what}.`);
  };
  if ((repository === null) === (workdirSha256 === null)) wrong('there is a repository or a workdir');
  if (repository === null && patchSha256 !== null) wrong('a patch is one of a repository');
  if (repository !== null && !COMMIT.test(repository.commit)) wrong('a commit is named in full');
  const digests = [workdirSha256, patchSha256, ...checks.map(({ outputSha256 }) => outputSha256)];
  if (digests.some((one) => one !== null && !SHA256.test(one))) wrong('a digest has 64 hexadecimal digits');
  if (last.length === 0) wrong('a check has run after the turn');
  const passed = last.every(({ required, status }) => !required || status === 'passed');
  if (passed !== (result === 'passed')) wrong(`the result is ${result}, and that of the required checks is another`);
}
