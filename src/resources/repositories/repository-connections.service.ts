import { Injectable } from '@nestjs/common';
import { recordAct, type Sender } from '../../access/audit/record.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { CredentialError } from '../../engine/repositories/hosting/credentials.js';
import { RepositoryError } from '../../engine/repositories/repository-error.js';
import type { RepositoryAccess } from '../../engine/repositories/repository-access.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { isHost } from '../../platform/config/repositories.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { ConnectionAccess } from './connection-access.js';
import { changedCredential, invalid, isApp, newCredential } from './credential.js';
import type { ChangeRepositoryConnectionDto, CreateRepositoryConnectionDto } from './repository-connection.dto.js';
import { RepositoryConnection } from './repository-connection.entity.js';
import {
  type ConnectionRow,
  COUNT,
  GET,
  LIST,
  LOCK,
  LOCK_WORKSPACE,
  SETTLE_TEST,
  USE_ALL,
  USE_ONE,
} from './repository-connections.sql.js';

/** Connections of one workspace. */
const MOST = 50;
const TEST_MS = 20_000;

/** What a workspace reaches hosts of repositories with, for its owners and admins (reference §15). */
@Injectable()
export class RepositoryConnectionsService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly rules: RepositoryRules,
    private readonly access: ConnectionAccess,
  ) {}

  /** Throws 404 unless it is the workspace's, as everything here that takes an id. */
  async get(auth: AuthContext, id: string): Promise<ConnectionRow> {
    const [row] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
  }

  /** What the workspace of a slug may use, oldest first. */
  async accesses(sql: Sql | null, slug: string): Promise<RepositoryAccess[]> {
    const rows = await (sql ?? this.database.work).run(USE_ALL({ slug }));
    return rows.map((row) => this.access.of(row, slug));
  }

  /** The host is not asked. Throws 400 for what cannot be used, 409 for one too many. */
  async create(auth: AuthContext, tx: UnitOfWork, given: CreateRepositoryConnectionDto): Promise<ConnectionRow> {
    const { paths = ['**'], push = ['millwright/*'] } = given;
    const place = this.place(given);
    const credential = newCredential(given);
    if (isApp(credential) && place.hosting !== 'github') throw invalid('appId', 'is for hosts that GitHub serves');
    await tx.run(LOCK_WORKSPACE({ auth }));
    const [{ count } = { count: 0 }] = await tx.run(COUNT({ auth }));
    if (count >= MOST) {
      const message = `A workspace has at most ${MOST} repository connections; delete one first.`;
      throw new ApiError('too_many_connections', message);
    }
    const id = newId();
    const secret = this.access.seal(id, credential);
    const kind = isApp(credential) ? ('github_app' as const) : ('token' as const);
    const { workspaceId, userId: createdBy } = auth;
    const fields = { id, workspaceId, ...place, kind, secret, paths, push, createdBy };
    await tx.manager.getRepository(RepositoryConnection).insert(fields);
    return read(auth, tx, id);
  }

  /** Changes what is given. A new credential is as one that the host has not seen yet. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, given: ChangeRepositoryConnectionDto) {
    const [before] = isUuid(id) ? await tx.run(LOCK({ auth, id })) : [];
    if (before === undefined) return missing();
    const { paths, push } = given;
    const credential = changedCredential(before.kind, given, () => this.credential(before));
    const fresh =
      credential === null
        ? {}
        : { secret: this.access.seal(before.id, credential), account: null, status: 'ready' as const, lastError: null };
    const fields = { ...(paths === undefined ? {} : { paths }), ...(push === undefined ? {} : { push }), ...fresh };
    if (Object.keys(fields).length > 0) {
      await tx.manager.getRepository(RepositoryConnection).update({ id: before.id }, fields);
    }
    return read(auth, tx, before.id);
  }

  /** What runs keeps its clone. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const connections = tx.manager.getRepository(RepositoryConnection);
    const { affected } = isUuid(id) ? await connections.delete({ id, workspaceId: auth.workspaceId }) : { affected: 0 };
    if (affected !== 1) missing();
  }

  /** Asks the host who the credential is, and puts the answer on record. No transaction is open while it is asked. */
  async test(auth: AuthContext, sender: Sender, id: string, action: string): Promise<ConnectionRow> {
    const [row] = isUuid(id) ? await this.database.read.run(USE_ONE({ auth, id })) : [];
    if (row === undefined) return missing();
    const said = await this.access.account(row, auth.workspace.slug, AbortSignal.timeout(TEST_MS)).then(
      (account) => ({ account, lastError: null, refused: false }),
      (error: unknown) => {
        if (!(error instanceof RepositoryError)) throw error;
        return { account: null, lastError: error.message, refused: error instanceof CredentialError };
      },
    );
    return this.transactions.open(async (tx) => {
      await tx.run(SETTLE_TEST({ id: row.id, secret: row.secret, ...said }));
      await recordAct(tx, sender, action, { type: 'repository-connection', id: row.id });
      return read(auth, tx, row.id);
    });
  }

  private credential(before: Parameters<ConnectionAccess['credential']>[0]) {
    try {
      return this.access.credential(before);
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      throw invalid('privateKey', 'is needed with appId and installationId: what was stored cannot be read');
    }
  }

  /** Where a host and its API are. Names are not resolved: their addresses are checked at each connection. */
  private place({ host, hosting: kind, api }: CreateRepositoryConnectionDto) {
    const url = URL.canParse(`https://${host}`) ? new URL(`https://${host}`) : null;
    if (!isHost(host) || url?.host !== host) {
      throw invalid('host', 'must be a name in small letters, such as github.com, with its port unless that is 443');
    }
    if (this.rules.egress.refuses(url)) throw invalid('host', NOT_PUBLIC);
    const known = this.rules.hosting(host);
    const address = api?.replace(/\/+$/, '');
    if (known !== null && kind !== undefined && kind !== known.kind) {
      throw invalid('hosting', `must be ${known.kind}, or left out: that is what serves ${host}`);
    }
    if (known !== null && address !== undefined && address !== known.api) {
      throw invalid('api', `must be ${known.api}, or left out: that is the API of ${host}`);
    }
    const hosting = known ?? this.rules.hosting(host, { kind, api });
    if (hosting === null) throw invalid('hosting', `must say what serves ${host}: github or gitlab`);
    if (api !== undefined) this.checkApi(api, hosting.kind);
    return { host, hosting: hosting.kind, api: address ?? null };
  }

  private checkApi(api: string, kind: 'github' | 'gitlab'): void {
    const url = URL.canParse(api) ? new URL(api) : null;
    if (url?.protocol !== 'https:') throw invalid('api', 'must be an address that begins with https://');
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      throw invalid('api', 'must have no user name, password, query and fragment');
    }
    if (this.rules.egress.refuses(url)) throw invalid('api', NOT_PUBLIC);
    if (kind === 'gitlab' && !/\/api\/v4\/*$/.test(url.pathname))
      throw invalid('api', 'must end in /api/v4 for GitLab');
  }
}

const NOT_PUBLIC = 'leads to an address that is not public, and lies in no network that the operator allows';

async function read(auth: AuthContext, tx: UnitOfWork, id: string): Promise<ConnectionRow> {
  const [row] = await tx.run(GET({ auth, id }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('repository connection');
}
