// What is inside of a proof: in-toto Statement v1 with the predicate test-result v0.1 (reference §26).

export interface ProofCheck {
  name: string;
  phase: 'before' | 'after';
  /** How many repairs went before it in this turn. */
  round: number;
  status: 'passed' | 'failed' | 'timed_out' | 'error';
  exitCode: number | null;
  durationMs: number;
  outputSha256: string;
  /** Protected paths that the agent had changed; the check saw them as they were. */
  protectedChanged: string[];
}

export interface ProofStatement {
  _type: 'https://in-toto.io/Statement/v1';
  /** `changes.patch`, `git:<commit>`, `workdir`. */
  subject: { name: string; digest: Record<string, string> }[];
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1';
  predicate: {
    result: 'PASSED' | 'FAILED';
    /** ResourceDescriptors of in-toto: each check with its command, the repository, the environment, the agent and the model. */
    configuration: { name: string; uri?: string; digest?: Record<string, string>; content?: string; mediaType?: string; annotations?: Record<string, unknown> }[];
    passedTests: string[];
    failedTests: string[];
    millwright: {
      task: string;
      turn: number;
      workspace: string;
      finishedAt: string;
      checks: ProofCheck[];
      /** The row of the workspace's audit log that was sealed last. */
      audit: { seq: number; hash: string } | null;
    };
  };
} // prettier-ignore

const TYPE = 'https://in-toto.io/Statement/v1';
const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

type Refuse = (why: string) => never;
type Fields = Record<string, unknown>;

/** What was signed, if it has the form of a proof. Fields that are not known are left alone, as in-toto wants it. */
export function statementIn(value: unknown, refuse: Refuse): ProofStatement {
  const { _type, subject, predicateType, predicate } = fieldsOf(value);
  if (_type !== TYPE) refuse(`Its _type is ${shown(_type)}, and that of a statement is ${TYPE}.`);
  if (predicateType !== PREDICATE_TYPE) refuse(`Its predicateType is ${shown(predicateType)}, and that of checks is ${PREDICATE_TYPE}.`);
  const { result, configuration, passedTests, failedTests, millwright } = fieldsOf(predicate);
  const { task, turn, finishedAt, checks } = fieldsOf(millwright);
  const whole =
    isList(subject, isSubject) && subject.length > 0 &&
    (result === 'PASSED' || result === 'FAILED') &&
    isList(configuration, isDescriptor) && isList(passedTests, isText) && isList(failedTests, isText) &&
    isText(task) && Number.isInteger(turn) && isText(finishedAt) && isList(checks, isCheck) && checks.length > 0;
  return whole ? (value as ProofStatement) : refuse('Its statement is none of checks.');
} // prettier-ignore

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const shown = (value: unknown): string => (isText(value) ? value : 'missing');
const isText = (value: unknown): value is string => typeof value === 'string';
const isList = (value: unknown, isOne: (one: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.every(isOne);

function isSubject(value: unknown): boolean {
  const { name, digest } = fieldsOf(value);
  const digests = Object.values(fieldsOf(digest));
  return isText(name) && digests.length > 0 && digests.every(isText);
}

/** One of `uri`, `digest` and `content` at least. */
function isDescriptor(value: unknown): boolean {
  const { name, uri, digest, content } = fieldsOf(value);
  return isText(name) && [uri, digest, content].some((one) => one !== undefined);
}

function isCheck(value: unknown): boolean {
  const { name, phase, round, status, protectedChanged } = fieldsOf(value);
  return isText(name) && isText(phase) && Number.isInteger(round) && isText(status) && isList(protectedChanged, isText);
}
