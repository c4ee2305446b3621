import { usd } from '../../platform/money/usd.js';
import type { WindowState } from './usage.sql.js';

/** Why a workspace can use no more, one sentence for people without its end. */
export function usedUpText({ window, unit, allowance, resetsAt }: WindowState): string {
  const count = (one: string) => `${allowance} ${one}${allowance === 1 ? '' : 's'}`;
  const what = { tasks: () => count('turn'), tokens: () => count('token'), cost: () => `${usd(allowance)} USD` }[
    unit
  ]();
  const anew = new Date(resetsAt).toISOString();
  return `The workspace has used up the ${what} that it has for a ${window}; the next ${window} begins at ${anew}`;
}
