// The verbs `automation …` (reference §12, §16).
import type { Command } from 'commander';
import { OperatorAutomations } from '../../resources/automations/operator-automations.js';
import type { AutomationRow } from '../../resources/automations/automations.sql.js';
import { inWords, ofWorkspace, type Services, type Verb, verb, workspaceOf } from './verb.js';

const controls = (services: Services) => services.get(OperatorAutomations, { strict: false });

/** What an operator needs to know of an automation. */
function brief(row: AutomationRow) {
  const { id, name, kind, status, pausedReason, cron, timezone, runAt, triggerEvent } = row;
  const { nextRunAt, lastRunAt, lastRunStatus, lastTaskId, consecutiveFailures, ownerId, ownerName } = row;
  const trigger = { cron, timezone, runAt, triggerEvent };
  const last = { lastRunAt, lastRunStatus, lastTaskId, consecutiveFailures };
  return {
    id,
    name,
    kind,
    status,
    pausedReason,
    ...trigger,
    nextRunAt,
    ...last,
    owner: { id: ownerId, name: ownerName },
  };
}
type Brief = ReturnType<typeof brief>;

const inLines = ({ pausedReason, owner, ...rest }: Brief) => ({
  ...rest,
  pausedReason: pausedReason?.message ?? null,
  owner: owner.name,
});

const list: Verb<{ automations: Brief[] }> = async (services, options) => {
  const { id } = await workspaceOf(services, options);
  return { automations: (await controls(services).list(id)).map(brief) };
};

const pause: Verb<{ automation: Brief }> = async (services, options, id) => {
  const workspace = await workspaceOf(services, options);
  return { automation: brief(await controls(services).pause(workspace.id, id)) };
};

const resume: Verb<{ automation: Brief }> = async (services, options, id) => {
  const workspace = await workspaceOf(services, options);
  return { automation: brief(await controls(services).resume(workspace, id)) };
};

const run: Verb<{ run: { id: string; automationId: string } }> = async (services, options, id) => {
  const workspace = await workspaceOf(services, options);
  return { run: await controls(services).run(workspace.id, id) };
};

/** A line of the list. */
const inLine = ({ id, name, status, cron, timezone, triggerEvent, nextRunAt, lastRunStatus, owner }: Brief) => ({
  id,
  name,
  status,
  trigger: cron === null ? (triggerEvent ?? 'once') : `${cron} ${timezone}`,
  nextRunAt,
  lastRunStatus,
  owner: owner.name,
});

const listInWords = ({ automations }: { automations: Brief[] }) => inWords({ automations: automations.map(inLine) });
const oneInWords = ({ automation }: { automation: Brief }) => inWords({ automation: inLines(automation) });
const runInWords = (answer: { run: { id: string } }) =>
  `A worker makes this run within a second.\n\n${inWords(answer)}`;

/** Adds the verbs to their group. */
export function automations(group: Command): void {
  ofWorkspace(verb(group, 'list', list, { words: listInWords }))
    .description('shows the automations of a workspace, the oldest first')
    .example('--workspace acme');
  ofWorkspace(verb(group, 'run <id>', run, { words: runInWords }))
    .description('runs an automation once, whatever its status')
    .example('019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081 --workspace acme');
  ofWorkspace(verb(group, 'pause <id>', pause, { words: oneInWords }))
    .description('pauses an automation')
    .example('019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081 --workspace acme');
  ofWorkspace(verb(group, 'resume <id>', resume, { words: oneInWords }))
    .description('lets a paused automation go on, from now')
    .example('019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081 --workspace acme');
}
