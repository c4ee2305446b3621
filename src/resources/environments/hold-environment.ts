import type { Actor } from '../../access/auth/auth-context.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notFound } from '../../platform/http/api-error.js';
import type { NamedEnvironment } from './definition.js';
import { type HeldEnvironment, HOLD } from './environments.sql.js';

/** A version of an environment, which stays until the transaction ends. Throws 404 with `param` when the workspace has none of that name, or it none. */
export async function holdEnvironment(auth: Actor, tx: UnitOfWork, named: NamedEnvironment): Promise<HeldEnvironment> {
  const [held] = await tx.run(HOLD({ auth, slug: named.slug }));
  if (held === undefined) throw notFound('environment', 'environment');
  const version = named.version ?? held.version;
  // They are counted from 1, and none of them goes alone.
  if (version > held.version) throw notFound(`version of the environment ${named.slug}`, 'environment');
  return { id: held.id, version };
}
