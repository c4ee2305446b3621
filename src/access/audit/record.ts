// Puts an act on record in the transaction of the act, so that neither is there without the other (reference §14).
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { INSTALLATION } from './audit-entry.entity.js';
import { ACT, CHANGE, CHANGE_ONCE } from './record.sql.js';

/** What an act is done to. */
export interface Target {
  /** For example `task`. */
  type: string;
  id: string;
}

/** By whom and how a request was sent. */
export interface Sender {
  workspaceId: string;
  /** Null for a directory, and for the payment provider, which are nobody. */
  actorId: string | null;
  /** Null for a sign-in that has none yet. */
  keyId: string | null;
  address: string | null;
  requestId: string | null;
}

/** Of acts that no request of a member has sent. */
export const NOBODY = { actorId: null, keyId: null, address: null, requestId: null };

/**
 * Of a request. Costs no round trip: it travels with the commit.
 * @param fields of a change: the names of what was given.
 */
export function recordAct(
  tx: UnitOfWork,
  sender: Sender,
  action: string,
  target: Target | null,
  fields: readonly string[] | null = null,
): Promise<void> {
  const { type: targetType = null, id: targetId = null } = target ?? {};
  const act = { ...sender, id: newId(), action, targetType, targetId };
  return tx.runWithNext(fields === null ? ACT(act) : CHANGE({ ...act, fields }));
}

/** Of a task that uses a secret for the first time at a host. @param actorId as whom the task works. */
export function recordUse(
  tx: UnitOfWork,
  { workspaceId, actorId, taskId }: { workspaceId: string; actorId: string; taskId: string },
  { secretId, host }: { secretId: string; host: string },
): Promise<void> {
  const fields = [`task ${taskId}`, `host ${host}`];
  return tx.runWithNext(CHANGE({ workspaceId, actorId, ...useOf(secretId), fields }));
}

/** A build of an environment, of which several attempts may be made. */
export interface UsingBuild {
  workspaceId: string;
  /** Of its environment. */
  slug: string;
  buildId: string;
  /** When it began. */
  createdAt: Date;
}

/** Of a build that uses a secret at a host, once: it works as nobody. */
export async function recordBuildUse(
  tx: UnitOfWork,
  { workspaceId, slug, buildId, createdAt: since }: UsingBuild,
  { secretId, host }: { secretId: string; host: string },
): Promise<void> {
  const fields = [`environment ${slug}`, `build ${buildId}`, `host ${host}`];
  await tx.run(CHANGE_ONCE({ workspaceId, actorId: null, ...useOf(secretId), fields, since }));
}

function useOf(secretId: string) {
  const nobody = { keyId: null, address: null, requestId: null };
  return { id: newId(), action: 'secret.use', targetType: 'secret', targetId: secretId, ...nobody };
}

/**
 * Of the operator.
 * @param workspaceId null for what concerns the installation: accounts of people, workspaces that are gone, backups.
 * @param action as for a request, for example `member.remove`.
 */
export function recordOperator(
  tx: UnitOfWork,
  workspaceId: string | null,
  action: string,
  target: Target,
): Promise<void> {
  return tx.runWithNext(operatorAct(workspaceId, action, target));
}

/** The statement of {@link recordOperator}, for a verb that has a connection of its own. */
export function operatorAct(workspaceId: string | null, action: string, { type: targetType, id: targetId }: Target) {
  return ACT({ workspaceId: workspaceId ?? INSTALLATION, id: newId(), action, targetType, targetId, ...NOBODY });
}
