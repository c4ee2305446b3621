import type { AgentOutcome } from '../../agent/agent-engine.js';
import type { TurnLimits } from '../../agent/turn-limits.js';

/** Milliseconds that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** Tells when the time of the turn is over, also while nothing else happens. Call what it returns when nobody wants to know. */
export function watchClock(limits: TurnLimits, over: (outcome: AgentOutcome) => void): () => void {
  let clock: NodeJS.Timeout | undefined;
  const look = () => {
    const left = limits.secondsLeft();
    if (left === null) return;
    const outcome = limits.exceeded();
    if (left > 0 || outcome === null) clock = setTimeout(look, Math.min(left * 1000 + 5, LONGEST_MS));
    else over(outcome);
  };
  look();
  return () => clearTimeout(clock);
}
