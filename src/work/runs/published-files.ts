import { Injectable, Logger } from '@nestjs/common';
import type { PublishedFile } from '../../engine/agent/agent-tool.js';
import type { InputFile } from '../../engine/agent/agent-engine.js';
import type { StoredPart, ToolResult } from '../../engine/models/conversation.js';
import { Database } from '../../platform/database/database.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { ApiError } from '../../platform/http/api-error.js';
import { cleanName } from '../../resources/files/file-name.js';
import { type KeptRoom, StorageQuota } from '../../resources/files/storage-quota.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import type { ClaimedRun, ActiveRun } from './claimed-run.js';
import { type Published, SHA256 } from './run-recorder.sql.js';

/** The files of a run: what it reads, and what it hands over. */
@Injectable()
export class PublishedFiles {
  private readonly logger = new Logger(PublishedFiles.name);

  constructor(
    private readonly storage: FileStorage,
    private readonly database: Database,
    readonly quota: StorageQuota,
  ) {}

  /** A file that the run reads: where it belongs in the workdir, and its bytes. */
  input({ workspaceId }: ClaimedRun, { fileId, path }: Extract<StoredPart, { type: 'file' }>): InputFile {
    const open = async () => {
      const [file] = await this.database.work.run(SHA256({ fileId }));
      return (await this.storage.open(workspaceId, file?.sha256 ?? '')).stream;
    };
    return { path, open };
  }

  /** Stores the files, and lets `write` record them while their room is kept. */
  async keeping<T>(
    held: ActiveRun,
    given: { result: ToolResult; files: PublishedFile[] },
    write: (stored: Awaited<ReturnType<PublishedFiles['stored']>> & { publishedBytes: number }) => Promise<T>,
  ): Promise<T> {
    const rooms: KeptRoom[] = [];
    try {
      const stored = await this.stored(held, given, rooms);
      return await write({ ...stored, publishedBytes: stored.files.reduce((sum, { size }) => sum + size, 0) });
    } finally {
      for (const { release } of rooms) release();
    }
  }

  /** The same of one file that the service itself adds. Undefined where that does not fit, or `write` found no room: then nothing was written. */
  own<T>(
    held: ActiveRun,
    file: PublishedFile,
    write: (stored: { files: Published[]; publishedBytes: number }) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const given = { result: { status: 'success' as const, output: null }, files: [file] };
    return this.keeping(held, given, ({ result, files, publishedBytes }) => {
      if (result.status === 'error') this.logger.warn(`Task ${held.run.taskId} has no ${file.name}: ${result.error}`);
      return files.length === 0 ? Promise.resolve(undefined) : write({ files, publishedBytes });
    });
  }

  /** The bytes go to storage before the row: bytes without a row are swept up, a row without bytes would be a lie. */
  private async stored(
    held: ActiveRun,
    { result, files }: { result: ToolResult; files: PublishedFile[] },
    rooms: KeptRoom[],
  ) {
    try {
      const stored = [];
      for (const file of files) stored.push(await this.store(held, file, rooms));
      return { result, files: stored };
    } catch (error) {
      return { result: { status: 'error' as const, error: this.notStored(held.run, error) }, files: [] };
    }
  }

  /** What the model reads. The words of an {@link ApiError} are for a client; what else fails is for the operator's log. */
  private notStored({ taskId }: ClaimedRun, error: unknown): string {
    if (error instanceof ApiError) return error.message;
    this.logger.error(`A file of task ${taskId} was not stored: ${String(error)}`);
    return 'The file could not be stored by the service.';
  }

  private async store(
    { run, signal }: ActiveRun,
    { id, name: given, size: announced, content, forModel }: PublishedFile,
    rooms: KeptRoom[],
  ) {
    const name = cleanName(given);
    const what = announced === undefined ? null : `${name} of ${announced} bytes`;
    const expected = announced ?? null;
    const room = await retryWhileUnavailable(() => this.quota.room(run.workspaceId, null, expected, what), signal);
    rooms.push(room);
    if (announced !== undefined && announced > room.maxBytes) throw room.tooLong;
    const { maxBytes, tooLong } = room;
    const { mediaType, size, sha256 } = await this.storage.put(run.workspaceId, content, { maxBytes, tooLong, name });
    return { id, name, mediaType, size, sha256, origin: forModel === true ? ('shown' as const) : ('task' as const) };
  }
}
