/** The queue of the jobs that make builds. */
export const BUILDS = 'environment-builds';

/** A job of that queue. Its key is the id of the build. */
export interface BuildJob {
  buildId: string;
  /** Of the repository, the one that the task which needs it begins at; null: as the environment names it. */
  commit: string | null;
}

/** The queue of the jobs that try a command in a build. */
export const TRIALS = 'environment-trials';

/** A job of that queue. */
export interface TrialJob {
  trialId: string;
}
