import { Core1763683200001 } from './0001-core.js';
import { ModesPoliciesAccounts1763683200005 } from './0005-modes-policies-accounts.js';

/** In order. A new one is added at the end; none is ever changed. */
export const MIGRATIONS = [Core1763683200001, ModesPoliciesAccounts1763683200005];
