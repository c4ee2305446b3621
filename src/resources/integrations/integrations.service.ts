import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/http/api-error.js';
import { Catalogue } from './catalogue/catalogue.js';
import { integrationView } from './integration.view.js';
import { LOG_OF_CALLER, STATES } from './integrations.sql.js';

/** The catalogue as a caller sees it: what there is, and what is connected. */
@Injectable()
export class IntegrationsService {
  constructor(
    private readonly database: Database,
    private readonly catalogue: Catalogue,
  ) {}

  async list(auth: AuthContext) {
    const states = await this.database.read.run(STATES({ auth }));
    return this.catalogue.list().map((one) => integrationView(one, states));
  }

  /** Throws 404 for a slug that is not in the catalogue. */
  async get(auth: AuthContext, slug: string) {
    const description = this.describe(slug);
    return integrationView(description, await this.database.read.run(STATES({ auth })));
  }

  /** The newest first. Throws 404 for a slug that is not in the catalogue. */
  deliveries(auth: AuthContext, slug: string) {
    return this.database.read.run(LOG_OF_CALLER({ auth, slug: this.describe(slug).slug }));
  }

  private describe(slug: string) {
    const provider = this.catalogue.get(slug);
    if (provider === undefined) throw notFound('integration');
    return provider.describe();
  }
}
