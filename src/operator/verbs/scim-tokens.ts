// The verbs `scim-token …` (reference §16, §31).
import type { Command } from 'commander';
import { type ScimTokenRow, ScimTokens } from '../../access/provisioning/scim-tokens.js';
import { ofWorkspace, type Verb, verb, workspaceOf } from './verb.js';

/** Adds the verbs to their group. */
export function scimTokens(token: Command): void {
  const create: Verb<{ token: ScimTokenRow; secret: string }> = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return services.get(ScimTokens).create(id);
  };
  const list: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return { tokens: await services.get(ScimTokens).list(id) };
  };
  const remove: Verb = async (services, _options, id) => ({
    deleted: (await services.get(ScimTokens).delete(id ?? '')).id,
  });
  ofWorkspace(verb(token, 'create', create))
    .description('makes a token by which a directory keeps the members of a workspace (SCIM); it is shown this once')
    .example('--workspace acme');
  ofWorkspace(verb(token, 'list', list))
    .description('shows the tokens of the directories of a workspace')
    .example('--workspace acme');
  verb(token, 'delete <id>', remove)
    .description('ends a token; members stay what they are')
    .example('0f8a6c1e-5d0b-4a57-9a4e-6f1f8f0f8a11');
}
