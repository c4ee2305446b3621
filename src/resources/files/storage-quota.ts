import { Injectable } from '@nestjs/common';
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

/** Room that nobody else is given until its `release`, which is called when the row of the file is written, or never will be. */
export interface KeptRoom extends Room {
  release: () => void;
}

/** Uploads, files and workdirs of a workspace together are held to its plan's `storageBytes` (reference §14). */
@Injectable()
export class StorageQuota {
  /** For the statements that let bytes in. */
  readonly limits: StorageLimits;
  /** Bytes of each workspace that are on their way to this process, or to their row. */
  private readonly arriving = new Map<string, number>();
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
   * Keeps the room for one file: {@link most}, or what the workspace has left beside all that is arriving. One read where the plan
   * has a limit. Without it a hundred uploads at once would all be stored, and most of them refused when their rows are
   * written: 144 MiB that only the sweep of the next hours removes. Each process knows its own, so a file may still find no room in the end.
   * @param plan null when it is not known.
   * @param size of the file, in bytes, at most; null when it is not known: then it is given all the room that one file may have.
   * @param what names the file in the refusal: `a file of 5 bytes`; null when its size is not known.
   */
  async room(workspaceId: string, plan: Plan | null, size: number | null, what: string | null): Promise<KeptRoom> {
    const unlimited = { ...this.most, release: () => undefined };
    if (plan !== null && this.limits[plan] === null) return unlimited;
    const { usedBytes, limitBytes } = await this.usage(workspaceId);
    if (limitBytes === null) return unlimited;
    const taken = usedBytes + (this.arriving.get(workspaceId) ?? 0);
    const left = Math.max(0, limitBytes - taken);
    const most = Math.min(left, this.maxUploadBytes);
    const kept = Math.min(size ?? most, most);
    const fits = left >= this.maxUploadBytes;
    const refusal = exhausted({ usedBytes: taken, limitBytes }, what ?? `a file of more than ${left} bytes`);
    return { ...(fits ? this.most : { maxBytes: left, tooLong: refusal }), release: this.keep(workspaceId, kept) };
  }

  private keep(workspaceId: string, bytes: number): () => void {
    const add = (more: number) => {
      const sum = (this.arriving.get(workspaceId) ?? 0) + more;
      if (sum > 0) this.arriving.set(workspaceId, sum);
      else this.arriving.delete(workspaceId);
    };
    add(bytes);
    return () => add(-bytes);
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
