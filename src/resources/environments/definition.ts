import type { Check } from '../../engine/checks/check.js';
import type { SessionEnvironment } from '../../engine/sandbox/session-environment.js';

/** What an environment is made of, before it is built (reference §25). A create fills in what is not given, but for what may be absent. */
export interface Definition {
  /** What is cloned before `setup`, and what `onLockfile` looks at; null for nothing. */
  repository: { url: string; ref: string | null } | null;
  /** Commands of bash, in their order. */
  setup: string[];
  /** That each command has. */
  variables: Record<string, string>;
  /** Patterns of hosts, as the operator's `sandbox.allowHosts` has them, and never more than those; none without one. */
  allowHosts: string[];
  /** Names. Of each name a task has the nearest that its owner may use, and of one that is not there none. */
  secrets: string[];
  /** By name the version: `{node: "22"}`. */
  tools: Record<string, string>;
  /** What is not given is as the operator has it. */
  resources: Resources;
  /** When a build is too old to begin a task from. */
  refresh: Refresh;
  /** What a task begins from when its build has failed: nothing, and it fails too, or the last build that did not. */
  onFailure: OnFailure;
  /** Of tasks that have none from elsewhere; an empty list is none. Absent: it says nothing of them. */
  checks?: Check[];
  /** Names. Absent: it says nothing of them. */
  mcpServers?: string[];
  /** As of tasks. Absent: it says nothing of that. */
  maxRepairs?: number;
}

export interface Resources {
  memoryBytes?: number;
  diskBytes?: number;
  wallClockSeconds?: number;
}

/** `onLockfile`: patterns of paths in the repository. When one of these files is another, the build is made anew. */
export type Refresh = 'never' | 'daily' | { onLockfile: string[] };

export const ON_FAILURE = ['fail', 'lastGood'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** An environment as clients name it. `version` null: the newest one of the moment. */
export interface NamedEnvironment {
  slug: string;
  version: number | null;
}

/** What of an environment holds in the sessions of its tasks and of its builds. */
export function sessionOf({ variables, allowHosts, tools, resources }: Definition): SessionEnvironment {
  return { variables, hosts: allowHosts, tools, limits: resources };
}

/** Where the commands of its builds run, below the workdir. */
export function folderOf({ repository }: Definition): string {
  return repository === null ? '.' : 'repo';
}
