import type { AgentForTask } from '../../engine/agent/delegation.js';
import type { Sql } from '../../platform/database/sql.js';
import { agentNamed } from './agent-choice.dto.js';
import { FIND_FOR_RUN, SLUGS } from './agents.sql.js';

/**
 * The version of an agent that a call of a model names for a task of its own (reference §27.3).
 *
 * @param name `slug`, `slug@3` or `slug@stable`. Throws a sentence for the model when there is none of that name, or it is archived.
 */
export async function agentForTask(work: Sql, workspaceId: string, name: string): Promise<AgentForTask> {
  const named = agentNamed(name);
  const [found] = named === null ? [] : await work.run(FIND_FOR_RUN({ workspaceId, ...named }));
  if (found === undefined) {
    const there = (await work.run(SLUGS({ workspaceId }))).map(({ slug }) => slug);
    throw new Error(
      `There is no agent ${JSON.stringify(name)}. ${there.length === 0 ? 'The workspace has none: leave the field out.' : `There are: ${there.join(', ')}.`}`,
    );
  }
  const { id, version, definition } = found;
  if (version === null || definition === null) {
    throw new Error(`The agent ${found.slug} has no such version or channel: ${JSON.stringify(name)}.`);
  }
  if (found.archived) throw new Error(`The agent ${found.slug} is archived and takes no new task.`);
  const { model, effort, budget } = definition;
  return { id, version, model, effort, budget };
}
