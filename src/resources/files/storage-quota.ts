// How much each workspace may store. A module of its own, because the operator command asks for it too.
import { Injectable, Module } from '@nestjs/common';
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { GET, LIST, type StorageLimits, type StorageUsed } from './storage-quota.sql.js';

/** How many bytes may come in, and what more of them is refused with. */
export interface Room {
  maxBytes: number;
  tooLong: ApiError;
}

/** Uploads, files and workdirs of a workspace together are held to its plan's `storageBytes` (reference §14). */
@Injectable()
export class StorageQuota {
  /** For the statements that let bytes in. */
  readonly limits: StorageLimits;
  private readonly maxUploadBytes: number;

  constructor(
    private readonly database: Database,
    env: Env,
  ) {
    const { free, paid } = plansOf(env.file);
    this.limits = { free: free.storageBytes, paid: paid.storageBytes };
    this.maxUploadBytes = env.variables.MAX_UPLOAD_BYTES;
  }

  /** The room for one file where the workspace's quota does not count. */
  get most(): Room {
    return { maxBytes: this.maxUploadBytes, tooLong: tooLarge(this.maxUploadBytes) };
  }

  /**
   * The room for one file: {@link most}, or what the workspace has left. One read where the plan has a limit. What is let in by this
   * may still find no room when its row is written: others take room meanwhile.
   * @param plan null when it is not known.
   * @param what names the file in the refusal: `a file of 5 bytes`; null when its size is not known.
   */
  async room(workspaceId: string, plan: Plan | null, what: string | null): Promise<Room> {
    if (plan !== null && this.limits[plan] === null) return this.most;
    const used = await this.usage(workspaceId);
    if (used.limitBytes === null) return this.most;
    const left = Math.max(0, used.limitBytes - used.usedBytes);
    if (left >= this.maxUploadBytes) return this.most;
    return { maxBytes: left, tooLong: exhausted(used, what ?? `a file of more than ${left} bytes`) };
  }

  /** What a file is refused with that found no room in the end. */
  async refusal(workspaceId: string, size: number): Promise<ApiError> {
    return exhausted(await this.usage(workspaceId), `a file of ${size} bytes`);
  }

  async usage(workspaceId: string): Promise<StorageUsed> {
    const [found] = await this.database.read.run(GET({ workspaceId, limits: this.limits }));
    // Deleted at this moment: what is to come finds no workspace either.
    return found ?? { usedBytes: 0, limitBytes: null };
  }

  /** Of all workspaces, by their ids. */
  async list(): Promise<Map<string, StorageUsed>> {
    const rows = await this.database.read.run(LIST({ limits: this.limits }));
    return new Map(rows.map(({ workspaceId, usedBytes, limitBytes }) => [workspaceId, { usedBytes, limitBytes }]));
  }
}

@Module({ providers: [StorageQuota], exports: [StorageQuota] })
export class StorageQuotaModule {}

/** Why a workspace can store no more, for people and models. */
export function exhaustedText({ usedBytes, limitBytes }: StorageUsed): string {
  return `The workspace stores ${usedBytes} of the ${limitBytes} bytes that its plan allows`;
}

export function tooLarge(maxBytes: number): ApiError {
  return new ApiError('too_large', `A file may have at most ${maxBytes} bytes.`);
}

function exhausted(used: StorageUsed, what: string): ApiError {
  const text = `${exhaustedText(used)}; ${what} does not fit. Delete tasks or files of projects first.`;
  return new ApiError('storage_exhausted', text);
}
