import { Injectable } from '@nestjs/common';
import { Sealing } from '../../platform/config/sealing.js';
import { Database } from '../../platform/database/database.js';
import type { Binding } from './binding.js';
import { ownerOfValue, type SecretScope } from './secret.entity.js';
import { OF_WORKSPACE, SET_USED, USABLE, type UsedRow } from './secrets.sql.js';

/** A secret as a task uses it. It is for the memory of a worker alone: it goes into no row, log, event or message. */
export interface UsableSecret {
  id: string;
  name: string;
  scope: SecretScope;
  /** The variable that has the placeholder. */
  env: string;
  /** Another one: value or bindings have changed. */
  version: number;
  bindings: Binding[];
  /** Null: it was sealed under another `SECRET_KEY`, and cannot be read. */
  value: string | null;
}

/** Which secrets a task may use, with their values (reference §24). */
@Injectable()
export class SecretsOf {
  constructor(
    private readonly database: Database,
    private readonly sealing: Sealing,
  ) {}

  /**
   * Of each name the nearest: the user's own before the project's before the workspace's; by name. A viewer has none, and neither has one who
   * is no member any more. It reads anew at each call.
   * @param userId as whom the task works. @param projectId that of the task.
   * @param names what is not there is left out; `all`: all that there are.
   */
  async resolve(
    workspaceId: string,
    userId: string,
    projectId: string | null,
    names: readonly string[] | 'all',
  ): Promise<UsableSecret[]> {
    const given = { workspaceId, userId, projectId, names: names === 'all' ? null : names };
    const rows = await this.database.work.run(USABLE(given));
    return rows.map((row) => ({ ...row, value: this.open(row) }));
  }

  /** Those of the workspace alone that have these names: for what is made for all of its members. It reads anew at each call. */
  async ofWorkspace(workspaceId: string, names: readonly string[]): Promise<UsableSecret[]> {
    const rows = await this.database.work.run(OF_WORKSPACE({ workspaceId, names }));
    return rows.map((row) => ({ ...row, value: this.open(row) }));
  }

  /** Puts on record when they were last used. What is gone is left out. */
  async used(ids: readonly string[], at: Date): Promise<void> {
    await this.database.work.run(SET_USED({ ids, at }));
  }

  private open({ id, value }: UsedRow): string | null {
    try {
      return this.sealing.open(ownerOfValue(id), value);
    } catch {
      return null;
    }
  }
}
