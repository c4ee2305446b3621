import type { z } from 'zod';
import type { Env } from '../../platform/config/env.js';
import { listeningOrigin } from '../../platform/http/listening.js';
import { readinessSchema } from '../health/readiness.js';

/** Time limit of an answer of the service, in milliseconds: its own checks take two seconds at most. */
const PATIENCE = 5_000;

/** What answers where the service of this configuration listens. */
export interface ServiceAnswer {
  /** `http://HOST:PORT` */
  origin: string;
  /**
   * `absent`: nobody listens. `silent`: somebody does and says nothing. `stranger`: it is no Millwright. `foreign`: it is one,
   * and does not show the mark of this installation. `unknown`: it is one, and the mark of this installation is not known.
   */
  state: 'ready' | 'absent' | 'silent' | 'stranger' | 'foreign' | 'unknown';
  /** What it says of itself; null where the state is not `ready`. */
  ready: z.output<typeof answerSchema> | null;
  /** Milliseconds by which its clock is ahead of ours, to half a second; null where it says no time. */
  aheadMs: number | null;
}

// An older version does not say it.
const answerSchema = readinessSchema.partial({ installation: true, machines: true });

/**
 * Asks the service at `HOST` and `PORT` how it is. Never rejects.
 * @param own how this installation is known; null where that is not known either.
 */
export async function askService(env: Env, own: Promise<string | null>): Promise<ServiceAnswer> {
  const origin = listeningOrigin(env);
  const asked = Date.now();
  const found = { origin, ready: null, aheadMs: null };
  try {
    const answer = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' });
    const aheadMs = ahead(answer.headers.get('date'), (asked + Date.now()) / 2);
    const { data } = answerSchema.safeParse(await answer.json().catch(() => null));
    if (data === undefined) return { ...found, state: 'stranger' };
    const sign = await own;
    if (sign === null) return { ...found, state: 'unknown' };
    if (data.installation !== sign) return { ...found, state: 'foreign' };
    return { origin, state: 'ready', ready: data, aheadMs };
  } catch (error) {
    return { ...found, state: stateOf(error) };
  }
}

/** RFC 9110 §6.6.1: whole seconds, so the time is on average half a second later than it says. */
function ahead(date: string | null, nowMs: number): number | null {
  const there = Date.parse(date ?? '');
  return Number.isNaN(there) ? null : there + 500 - nowMs;
}

const NOBODY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);

function stateOf(error: unknown): 'absent' | 'silent' | 'stranger' {
  if (error instanceof Error && error.name === 'TimeoutError') return 'silent';
  const { cause } = error as { cause?: { code?: string } };
  return NOBODY.has(cause?.code ?? '') ? 'absent' : 'stranger';
}
