import type { Actor } from '../../access/auth/auth-context.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { agentNamed, type NamedAgent } from './agent-choice.dto.js';
import { DEFINITION_OF, FIND, HOLD } from './agents.sql.js';
import type { AgentDefinition } from './definition.js';

/** A version of an agent, which a task is made with. */
export interface ChosenAgent {
  id: string;
  slug: string;
  version: number;
  definition: AgentDefinition;
}

/**
 * The agent that new work is to have, and null for none. Work that says nothing of it has the one that is the default of its workspace; work without
 * any costs no look at the database.
 *
 * @param given `slug`, `slug@3` or `slug@stable`; null: none. Undefined: it says nothing of it.
 * Throws 404 with `param` for one that there is not, and 400 for one that is archived.
 */
export async function findAgent(
  auth: Actor,
  tx: UnitOfWork,
  given: string | null | undefined,
): Promise<ChosenAgent | null> {
  if (given === null) return null;
  if (given !== undefined) return find(auth, tx, namedBy(given));
  const { defaultAgent } = auth.workspace;
  return defaultAgent === null ? null : find(auth, tx, namedBy(defaultAgent));
}

/** As {@link findAgent} for an automation: until the transaction ends the agent is not archived. */
export async function holdAgent(auth: Actor, tx: UnitOfWork, given: string | null): Promise<ChosenAgent | null> {
  if (given === null) return null;
  const named = namedBy(given);
  await tx.run(HOLD({ auth, slug: named.slug }));
  return find(auth, tx, named);
}

/**
 * What holds for a task that the caller changes or forks: what its agent says. Null for a task without one, and for a caller who may widen that, who
 * are not looked up.
 */
export async function limitsOf(
  { seesEverything }: Actor,
  tx: UnitOfWork,
  { agentId, agentVersion }: { agentId: string | null; agentVersion: number | null },
): Promise<AgentDefinition | null> {
  if (seesEverything || agentId === null || agentVersion === null) return null;
  const [found] = await tx.run(DEFINITION_OF({ agentId, agentVersion }));
  return found?.definition ?? null;
}

async function find(auth: Actor, tx: UnitOfWork, { slug, version, channel }: NamedAgent): Promise<ChosenAgent> {
  const [found] = await tx.run(FIND({ auth, slug, version, channel }));
  if (found === undefined) throw notFound('agent', 'agent');
  if (found.wanted === null) throw notFound(`channel ${channel ?? ''} of the agent ${slug}`, 'agent');
  if (found.version === null || found.definition === null) throw notFound(`version of the agent ${slug}`, 'agent');
  if (found.archived) {
    const message = `agent: ${slug} is archived and takes no new task; name another one, or bring it back.`;
    throw new ApiError('invalid_field', message, { param: 'agent' });
  }
  return { id: found.id, slug: found.slug, version: found.version, definition: found.definition };
}

/** The field is checked where it comes in; what is stored was. */
function namedBy(given: string): NamedAgent {
  const named = agentNamed(given);
  if (named === null) throw new Error('This is no name of an agent.');
  return named;
}
