import type { Plan } from '../../platform/config/rate-limits.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Scope } from '../../platform/http/endpoint.js';

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

interface ActorFields {
  user: { id: string; name: string; email: string | null };
  /** `exposed`: the kinds of message parts of the workspace's own policy, null for the deployment's. `defaultAgent`: of tasks that name none. */
  workspace: {
    id: string;
    name: string;
    slug: string;
    plan: Plan;
    exposed: readonly string[] | null;
    defaultAgent: string | null;
  };
  role: Role;
  /** What its credential allows; every scope for an actor without one. */
  scopes: readonly Scope[];
}

/** As whom something is done, and in which workspace: by a request, or by an automation for its owner (reference §3). */
export class Actor {
  readonly user: ActorFields['user'];
  readonly workspace: ActorFields['workspace'];
  readonly role: Role;
  readonly scopes: readonly Scope[];

  constructor({ user, workspace, role, scopes }: ActorFields) {
    Object.assign(this, { user, workspace, role, scopes });
  }

  get userId(): string {
    return this.user.id;
  }
  get workspaceId(): string {
    return this.workspace.id;
  }
  /** Owners and admins see everything in the workspace. */
  get seesEverything(): boolean {
    return this.role === 'owner' || this.role === 'admin';
  }

  /** For a scope that depends on the body. Throws 403 `missing_scope`. */
  require(scope: Scope): void {
    if (!this.scopes.includes(scope)) {
      throw new ApiError('missing_scope', `This credential lacks the scope ${scope}.`);
    }
  }

  /**
   * Only its owner, and the owners and admins of the workspace, may change or delete a thing that others see too.
   * Throws 403 `not_owner`.
   */
  requireOwnership(ownerId: string, what: string): void {
    if (ownerId === this.userId || this.seesEverything) return;
    throw new ApiError(
      'not_owner',
      `Only the owner of this ${what}, or an owner or admin of the workspace, may do this.`,
    );
  }

  /** An admin neither makes nor changes nor removes owners. `roles`: those that a change begins or ends. Throws 403 `role_not_allowed`. */
  requireOwnerFor(...roles: readonly Role[]): void {
    if (this.role === 'owner' || !roles.includes('owner')) return;
    throw new ApiError('role_not_allowed', 'Only an owner of the workspace makes, changes or removes owners.');
  }
}

interface Credential {
  credentialType: 'personal_api_key' | 'service';
  credential: { id: string; name: string; prefix: string; createdAt: Date; expiresAt: Date | null };
  /** What is stored of the id of the console's session by which the credential was known; null for one that was sent itself. */
  session: Buffer | null;
}

/** Who asks, in which workspace, with what: the first argument of every handler and of the services behind it (reference §3). */
export class AuthContext extends Actor {
  readonly credentialType: Credential['credentialType'];
  readonly credential: Credential['credential'];
  readonly session: Credential['session'];

  constructor({ credentialType, credential, session, ...actor }: ActorFields & Credential) {
    super(actor);
    Object.assign(this, { credentialType, credential, session });
  }
}
