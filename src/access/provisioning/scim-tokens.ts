import { Injectable } from '@nestjs/common';
import type { Plan } from '../../platform/config/rate-limits.js';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { bytes, sql, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import { ApiError } from '../../platform/http/api-error.js';
import { recordOperator } from '../audit/record.js';
import { isScimToken, newScimToken } from '../auth/api-key.js';
import { CredentialsService } from '../auth/credentials.service.js';
import { OperatorError } from '../auth/operator-error.js';
import { Workspace } from '../workspaces/workspace.entity.js';
import { ScimToken } from './scim-token.entity.js';

/** Of one workspace: one in use, one that takes its place, and some to spare. */
const MOST = 5;
/** `mw_scim_` and six characters. */
const PREFIX_LENGTH = 14;

const TOKEN = columns(ScimToken, 't', ['id', 'workspaceId', 'prefix', 'createdAt']);
export type ScimTokenRow = typeof TOKEN.row;

const OF = columns(ScimToken, 't', ['id', 'workspaceId']);
const WORKSPACE = columns(Workspace, 'w', ['slug', 'plan']);
/** A directory that sends a request: for which workspace it speaks. */
export type Directory = typeof OF.row & { slug: string; plan: Plan };

const FIND = sql`
SELECT ${OF}, ${WORKSPACE} FROM scim_tokens t JOIN workspaces w ON w.id = t.workspace_id
WHERE t.digest = ${bytes('digest')}`.rows<Directory>();
const LIST = sql`
SELECT ${TOKEN} FROM scim_tokens t WHERE t.workspace_id = ${uuid('workspaceId')} ORDER BY t.created_at, t.id`.rows<ScimTokenRow>();
const DELETE = sql`DELETE FROM scim_tokens t WHERE t.id = ${uuid('id')} RETURNING ${TOKEN}`.rows<ScimTokenRow>();

/** The tokens by which directories keep the members of workspaces (reference §31). The operator makes and ends them. */
@Injectable()
export class ScimTokens {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly credentials: CredentialsService,
  ) {}

  /** Throws 401. Not cached, so that an end works at once. */
  async authenticate(token: string): Promise<Directory> {
    const [found] = isScimToken(token)
      ? await this.database.read.run(FIND({ digest: this.credentials.digest(token) }))
      : [];
    if (found === undefined) {
      throw new ApiError('invalid_credential', 'This is no token of a directory, or it was ended.');
    }
    return found;
  }

  /** The secret is in this one answer. Throws {@link OperatorError} when the workspace has {@link MOST}. */
  async create(workspaceId: string): Promise<{ token: ScimTokenRow; secret: string }> {
    const secret = newScimToken();
    const made = { id: newId(), workspaceId, digest: this.credentials.digest(secret) };
    return this.transactions.open(async (tx) => {
      if ((await tx.run(LIST({ workspaceId }))).length >= MOST) {
        throw new OperatorError(
          `The workspace has ${MOST} tokens, which is the most; 'scim-token delete ID' ends one.`,
        );
      }
      await tx.manager.getRepository(ScimToken).insert({ ...made, prefix: secret.slice(0, PREFIX_LENGTH) });
      await recordOperator(tx, workspaceId, 'scim-token.create', { type: 'scim-token', id: made.id });
      const token = (await tx.run(LIST({ workspaceId }))).find(({ id }) => id === made.id);
      if (token === undefined) throw new Error('A row that was just inserted is not there.');
      return { token, secret };
    });
  }

  /** Oldest first. */
  list(workspaceId: string): Promise<ScimTokenRow[]> {
    return this.database.read.run(LIST({ workspaceId }));
  }

  /** Ends a token from the next request on. Throws {@link OperatorError}. */
  async delete(id: string): Promise<ScimTokenRow> {
    return this.transactions.open(async (tx) => {
      const [token] = isUuid(id) ? await tx.run(DELETE({ id })) : [];
      if (token === undefined) {
        throw new OperatorError(`There is no token '${id}'; 'scim-token list --workspace S' shows the ids.`);
      }
      await recordOperator(tx, token.workspaceId, 'scim-token.delete', { type: 'scim-token', id: token.id });
      return token;
    });
  }
}
