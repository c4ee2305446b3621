// What a check of `doctor` is, and how its lines are made.
import type { Examination } from './examination.js';

/** One line of `doctor`. `warn`: the service works, and something should be done. `fail`: a promise of the service does not hold. */
export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do; null when nothing has to be done. */
  advice: string | null;
}

/** Examines one part of the installation. It leaves nothing changed. */
export interface Check {
  /** Of the line that says that the check did not end, and of most others. */
  name: string;
  /** Whether it asks the database: without one it is left out, and one line says so. */
  asksDatabase?: true;
  /** Whether it measures times: other checks do not run meanwhile. */
  measures?: true;
  /** Its time limit in milliseconds; 15,000 when it is not given. */
  limitMs?: number;
  /** `signal` is aborted at the limit. What it throws becomes a ✖ with the message. */
  run(at: Examination, signal: AbortSignal): Promise<Finding[]>;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: 'ok', detail, advice: null });
export const warn = advised('warn');
export const fail = advised('fail');

function advised(status: 'warn' | 'fail') {
  return (name: string, detail: string, advice: string): Finding => ({ name, status, detail, advice });
}
