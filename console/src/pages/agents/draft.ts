// An agent while it is written.
import type { Agent, AgentVersion } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import {
  budgetDraftOf,
  budgetIn,
  environmentIn,
  environmentText,
  NO_BUDGET,
  repositoryDraftOf,
} from '../automations/draft.ts';
import { type DefaultsDraft, defaultsDraftOf, defaultsIn, NO_DEFAULTS } from '../checks/checks-draft.ts';
import { NO_REPOSITORY, type RepositoryDraft, repositoryOf } from '../repositories/repository-draft.ts';
import { newPair, type Pair } from '../settings/environments/draft.ts';

export interface Draft {
  slug: string;
  name: string;
  description: string;
  instructions: string;
  model: string;
  effort: NonNullable<Agent['effort']> | '';
  approvals: Agent['approvals'];
  web: 'usual' | 'off';
  budget: typeof NO_BUDGET;
  deny: string[];
  /** Null: those by default. */
  skills: string[] | null;
  mcpServers: string[] | null;
  repository: RepositoryDraft;
  /** The slug of one, or `slug@version`; empty: that of the project, or none. */
  environment: string;
  checks: DefaultsDraft;
  outputSchema: string;
  tags: string[];
  channels: Pair[];
  default: boolean;
}

export const newDraft = (): Draft => ({
  ...{ slug: '', name: '', description: '', instructions: '', model: '', effort: '', approvals: 'none', web: 'usual' },
  ...{
    budget: NO_BUDGET,
    deny: [],
    skills: null,
    mcpServers: null,
    repository: NO_REPOSITORY,
    environment: '',
    checks: NO_DEFAULTS,
  },
  ...{ outputSchema: '', tags: [], channels: [], default: false },
});

export function draftOf(agent: Agent): Draft {
  const { slug, name, description, instructions, model, effort, approvals, web, budget, tools, tags, channels } = agent;
  return {
    ...{ slug, name, description, instructions, approvals, tags, default: agent.default },
    model: model ?? '',
    effort: effort ?? '',
    web: web === false ? 'off' : 'usual',
    budget: budgetDraftOf(budget),
    deny: tools.deny,
    skills: agent.skills,
    mcpServers: agent.mcpServers,
    repository: repositoryDraftOf(agent.repository),
    environment: environmentText(agent.environment),
    checks: defaultsDraftOf(agent),
    outputSchema: agent.outputSchema === null ? '' : JSON.stringify(agent.outputSchema, null, 2),
    channels: Object.entries(channels).map(([channel, version]) => newPair(channel, String(version))),
  };
}

/** What is wrong with a field before anything is sent, by the name that the API has for it. */
export type Faults = Record<string, string>;

export function faultsOf({ slug, channels, outputSchema }: Draft): Faults {
  const texts = t.agents;
  const faults: Faults = {};
  if (slug.trim() === '') faults['slug'] = texts.needed;
  const names = channels.map(({ name }) => name.trim());
  const twice = names.find((name, n) => name !== '' && names.indexOf(name) !== n);
  if (twice !== undefined) faults['channels'] = texts.twice(twice);
  if (channels.some(({ name, value }) => name.trim() !== '' && !/^[1-9]\d*$/.test(value.trim())))
    faults['channels'] = texts.notVersion;
  if (outputSchema.trim() !== '' && schemaOf(outputSchema) === null) faults['outputSchema'] = texts.notJson;
  return faults;
}

function schemaOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** What makes a version. */
export function definitionOf(draft: Draft) {
  const { name, slug, instructions, model, effort, approvals, web, deny, tags, outputSchema } = draft;
  return {
    ...{ instructions, approvals, tags },
    model: model || null,
    effort: effort || null,
    budget: budgetIn(draft.budget),
    tools: { deny },
    skills: draft.skills,
    mcpServers: draft.mcpServers,
    web: web === 'off' ? false : null,
    repository: repositoryOf(draft.repository, name || slug) ?? null,
    environment: environmentIn(draft.environment),
    outputSchema: outputSchema.trim() === '' ? null : schemaOf(outputSchema),
    ...defaultsIn(draft.checks),
  };
}

function sentOf(draft: Draft) {
  const channels = draft.channels.filter(({ name }) => name.trim() !== '');
  return {
    name: draft.name.trim() || draft.slug.trim(),
    description: draft.description.trim(),
    channels: Object.fromEntries(channels.map(({ name, value }) => [name.trim(), Number(value)])),
    default: draft.default,
    ...definitionOf(draft),
  };
}

export function bodyOf(draft: Draft) {
  const { default: isDefault, ...body } = sentOf(draft);
  return { slug: draft.slug.trim(), ...body, ...(isDefault && { default: true }) };
}

/** What is another than before, on the version that the form was opened with: what somebody else has changed since is not lost. */
export function changesOf(draft: Draft, before: Agent) {
  const was = new Map<string, unknown>(Object.entries(sentOf(draftOf(before))));
  const changed = Object.entries(sentOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was.get(name)),
  );
  return { version: before.version, ...(Object.fromEntries(changed) as Partial<ReturnType<typeof sentOf>>) };
}

/** A version in words that can be compared, line by line. */
export function wordsOf(of: Agent | AgentVersion | ReturnType<typeof definitionOf>): {
  instructions: string;
  settings: string;
} {
  const shown = Object.entries(of).filter(([name]) => !UNTOLD.has(name));
  const lines = shown.flatMap(([name, value]) => {
    if (value === null || (Array.isArray(value) && value.length === 0)) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value, withoutNothing, 2);
    return text === '{}' || text === undefined ? [] : [`${name}: ${text}`];
  });
  return { instructions: withEnd(of.instructions), settings: withEnd(lines.sort().join('\n')) };
}

const UNTOLD = new Set(['id', 'slug', 'name', 'description', 'version', 'default', 'channels', 'archived', 'createdBy', 'createdAt', 'updatedAt', 'instructions', 'metadata']); // prettier-ignore
const withEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
/** What the service fills in where nothing was given. */
const withoutNothing = (_key: string, value: unknown): unknown =>
  value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
