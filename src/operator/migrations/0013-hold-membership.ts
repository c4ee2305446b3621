import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { HOLD_MEMBERSHIP } from '../../access/auth/hold-membership.function.js';

/** The lock that every write of a request begins with (reference §3). */
export class HoldMembership1795564800013 extends ForwardMigration {
  readonly sql = HOLD_MEMBERSHIP;
}
