import { Injectable } from '@nestjs/common';
import { apiFetch } from '../../engine/repositories/hosting/api-fetch.js';
import {
  accountOfApp,
  accountOfToken,
  type Api,
  CredentialError,
  installationToken,
} from '../../engine/repositories/hosting/credentials.js';
import type { RepositoryAccess } from '../../engine/repositories/repository-access.js';
import { refusedCredential } from '../../engine/repositories/repository-error.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { Sealing } from '../../platform/config/sealing.js';
import { Database } from '../../platform/database/database.js';
import { AppTokens } from './app-tokens.js';
import { type Credential, isApp } from './credential.js';
import { ownerOf } from './repository-connection.entity.js';
import { SETTLE, type UsedRow } from './repository-connections.sql.js';

/** Uses connections: their credentials are opened here, and what a host says of them is put on record (reference §15). */
@Injectable()
export class ConnectionAccess {
  constructor(
    private readonly rules: RepositoryRules,
    private readonly sealing: Sealing,
    private readonly tokens: AppTokens,
    private readonly database: Database,
  ) {}

  of(row: UsedRow, workspaceSlug: string): RepositoryAccess {
    const { id, host, account, paths, push } = row;
    // Sealed anew it ends with other bytes.
    const credential = row.secret.subarray(-12).toString('base64');
    const known = { connectionId: id, name: account, host };
    let renewed = false;
    let keyOfLast = '';
    return {
      ...{ ...known, credential, paths, push, hosting: this.hosting(row), caFile: this.rules.caFile(host) },
      token: async (path, signal) => {
        const opened = this.credential(row);
        if (!isApp(opened)) return opened.token;
        keyOfLast = `${id} ${credential} ${path ?? ''}`;
        const api = this.api(row, workspaceSlug, signal);
        try {
          return await this.tokens.get(keyOfLast, () => installationToken(api, opened, path));
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof CredentialError) await this.settle(row, error.message);
          throw error;
        }
      },
      accepted: () => (row.status === 'ready' && row.lastError === null ? Promise.resolve() : this.settle(row, null)),
      refused: async () => {
        this.tokens.forget(keyOfLast);
        if (row.kind === 'github_app' && !renewed) return (renewed = true);
        await this.settle(row, refusedCredential(known));
        return false;
      },
    };
  }

  /** Who the credential is at the host. Rejects with {@link RepositoryError}. */
  async account(row: UsedRow, workspaceSlug: string, signal: AbortSignal): Promise<string> {
    const credential = this.credential(row);
    const api = this.api(row, workspaceSlug, signal);
    return isApp(credential) ? accountOfApp(api, credential) : accountOfToken(api, credential.token);
  }

  /** Throws {@link CredentialError} for one that was sealed under another `SECRET_KEY`. */
  credential({ id, secret }: UsedRow): Credential {
    let text: string;
    try {
      text = this.sealing.open(ownerOf(id), secret);
    } catch (cause) {
      const message =
        'The credential was stored under another SECRET_KEY and cannot be read. Give the connection a new one.';
      throw new CredentialError(message, { cause });
    }
    return JSON.parse(text) as Credential;
  }

  seal(id: string, credential: Credential): Buffer {
    return this.sealing.seal(ownerOf(id), JSON.stringify(credential));
  }

  private hosting({ host, hosting, api }: UsedRow) {
    return this.rules.hosting(host, { kind: hosting, api: api ?? undefined });
  }

  private api(row: UsedRow, workspaceSlug: string, signal: AbortSignal): Api {
    const { kind, api } = this.hosting(row) ?? { kind: row.hosting, api: row.api ?? '' };
    const fetch = apiFetch(this.rules.egress, workspaceSlug, this.rules.caFile(row.host), signal);
    return { kind, address: api, fetch };
  }

  /** Writes when that changes, and only while the connection has this credential. */
  private async settle({ id, secret }: UsedRow, lastError: string | null): Promise<void> {
    await this.database.work.run(SETTLE({ id, secret, lastError }));
  }
}
