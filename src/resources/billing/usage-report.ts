import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { Database } from '../../platform/database/database.js';
import { periodOf, type UsageQuery } from './billing.dto.js';
import { usageRowView } from './billing.view.js';
import { REPORTS } from './usage-report.sql.js';

/** Rows of one answer. */
const LIMIT = 1_000;

/** What a workspace has used, for charts and bills (reference §14). */
@Injectable()
export class UsageReport {
  constructor(
    private readonly database: Database,
    private readonly models: ModelCatalog,
  ) {}

  /** The largest rows, the largest first. Throws 400 `invalid_query`. */
  async read(auth: AuthContext, query: UsageQuery) {
    const { groupBy } = query;
    const rows = await this.database.reports.run(
      REPORTS[groupBy]({ auth, ...periodOf(query, new Date()), limit: LIMIT }),
    );
    const named =
      groupBy === 'model' ? rows.map((row) => ({ ...row, name: this.models.find(row.key ?? '')?.name ?? null })) : rows;
    return named.map(usageRowView);
  }
}
