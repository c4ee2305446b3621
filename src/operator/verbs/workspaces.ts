// The verbs `workspace …` (reference §3, §16).
import { type Command, Option } from 'commander';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { Workspace } from '../../access/workspaces/workspace.entity.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import { WorkspacesService } from '../../access/workspaces/workspaces.service.js';
import { EXPOSABLE, transparencyOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { PLANS } from '../../platform/config/rate-limits.js';
import { StorageQuota } from '../../resources/files/storage-quota.js';
import type { StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { Progress } from './progress.js';
import { inWords, listOf, ofWorkspace, type Verb, verb, workspaceOf } from './verb.js';

interface Policy {
  workspace: Workspace;
  /** What is exposed, by the workspace's own policy or by the deployment's. */
  exposed: string[];
}

/** Without a flag it shows the policy. */
const policy: Verb<Policy> = async (services, options) => {
  const { expose, default: back } = options;
  if (expose !== undefined && back !== undefined) throw new OperatorError('Give either --expose or --default.');
  const found = await workspaceOf(services, options);
  const changed = expose !== undefined || back !== undefined;
  const workspace = changed ? await services.get(WorkspacesService).expose(found.id, expose ?? null) : found;
  const deployment = transparencyOf(services.get(Env).file);
  return { workspace, exposed: workspace.transparency ?? EXPOSABLE.filter((kind) => deployment[kind]) };
};

const policyInWords = ({ workspace: { slug, transparency }, exposed }: Policy): string => {
  const whose = transparency === null ? 'as the deployment has it' : 'by a policy of its own';
  return `The workspace '${slug}' exposes, ${whose}: ${exposed.join(', ') || 'nothing'}.`;
};

interface Workspaces {
  workspaces: (Workspace & { storage: StorageUsed | null })[];
}

const listWorkspaces: Verb<Workspaces> = async (services) => {
  const [found, used] = [await services.get(WorkspacesService).list(), await services.get(StorageQuota).list()];
  return { workspaces: found.map((one) => ({ ...one, storage: used.get(one.id) ?? null })) };
};

/** What people see of a workspace: `workspace plan` and `workspace policy` show the rest. */
const briefly = ({ id, slug, name, plan, createdAt }: Workspace) => ({ id, slug, name, plan, createdAt });

const workspacesInWords = ({ workspaces }: Workspaces): string =>
  inWords({
    workspaces: workspaces.map(({ storage, ...workspace }) => {
      const limit = storage?.limitBytes == null ? 'no limit' : `of ${storage.limitBytes}`;
      return { ...briefly(workspace), storage: `${storage?.usedBytes ?? 0} bytes, ${limit}` };
    }),
  });

const deleteWorkspace: Verb = async (services, options) => {
  const { id, slug } = await workspaceOf(services, options);
  if (options.yes !== true) {
    throw new OperatorError(
      `This would end all keys of '${slug}' and delete its projects, tasks, messages and files for good; add --yes to do it.`,
    );
  }
  const progress = new Progress();
  try {
    await services.get(WorkspaceRemover).remove(id, (count) => progress.say(`${slug}: ${count} records deleted`));
  } finally {
    progress.end();
  }
  return { deleted: true, id };
};

/** Adds the verbs to their group. */
export function workspaces(workspace: Command): void {
  const create: Verb<{ workspace: Workspace }> = async (services, options) => ({
    workspace: await services.get(WorkspacesService).create(options),
  });
  const words = ({ workspace: made }: { workspace: Workspace }) => inWords({ workspace: briefly(made) });
  verb(workspace, 'create', create, { installs: true, words })
    .description('makes a workspace')
    .example("--name 'Acme Mills' --slug acme")
    .requiredOption('--name <name>', 'what people call it')
    .option('--slug <slug>', 'small letters, digits and hyphens; made from the name when not given')
    .addOption(new Option('--plan <plan>', 'DEFAULT_PLAN when not given').choices(PLANS));
  verb(workspace, 'list', listWorkspaces, { words: workspacesInWords })
    .description('shows all workspaces, the oldest first, and what they store')
    .example('');
  ofWorkspace(verb(workspace, 'delete', deleteWorkspace))
    .description('deletes a workspace with all that is in it, for good')
    .example('--workspace acme --yes')
    .option('--yes', 'really: it cannot be undone');
  ofWorkspace(verb(workspace, 'policy', policy, { words: policyInWords }))
    .description('shows or sets what clients see of the work on a task')
    .example('--workspace acme --expose text,files')
    .addOption(new Option('--expose <a,b>', `the whole list: ${EXPOSABLE.join(', ')}`).argParser(listOf(EXPOSABLE)))
    .option('--default', 'what the deployment exposes');
}
