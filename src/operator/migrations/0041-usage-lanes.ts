import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Counters of usage in lanes (docs/decisions/0038). What was counted until now is lane 0. */
export class UsageLanes1797984000041 extends ForwardMigration {
  readonly sql = `
      ALTER TABLE usage_days ADD COLUMN lane smallint NOT NULL DEFAULT 0;
      ALTER TABLE usage_days DROP CONSTRAINT usage_days_pkey;
      ALTER TABLE usage_days ADD PRIMARY KEY (workspace_id, day, lane);
    `;
}
