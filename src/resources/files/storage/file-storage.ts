import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Env } from '../../../platform/config/env.js';
import { unavailable } from '../../../platform/database/database-errors.js';
import { DiskSpace } from '../../../platform/disk/disk-space.js';
import { Installation } from '../../../platform/installation/installation.js';
import { PluginRegistry } from '../../../platform/plugins/plugin.js';
import { tooLarge } from '../storage-quota.js';
import { declared, sniff, SNIFFED_BYTES, typeByName, UNKNOWN_TYPE } from './media-type.js';
import {
  type ArrivingBytes,
  type ByteRange,
  BytesGoneError,
  StorageDriver,
  StorageError,
  StorageUnavailableError,
} from './storage-driver.js';
import { FILE_PIECES } from '../../../platform/fairness/shares.js';
import { KeyedSemaphore } from '../../../platform/fairness/keyed-semaphore.js';

export interface PutOptions {
  /** Bytes; more is refused with `tooLong`. */
  maxBytes?: number;
  /** `too_large` when it is not given. */
  tooLong?: Error;
  /** Used when the bytes do not tell; ignored when it has not the form `type/subtype`. */
  declaredType?: string | null;
  /** The last resort for a type: its extension. */
  name?: string;
}

export interface PutFile {
  /** Hexadecimal. */
  sha256: string;
  /** Bytes. */
  size: number;
  mediaType: string;
}

/** The storage of this installation: the driver that `STORAGE` names, and what every file goes through on its way there. */
@Injectable()
export class FileStorage implements OnModuleInit {
  /**
   * Files that arrive take turns, piece by piece, among those of their workspace. A file whose turn has not come is not read, so
   * that the connection that it comes by fills up and its sender waits. Without it the event loop had a piece of each of a
   * hundred files to do before it came to another tenant's request, which took 0.5 s. A turn is a piece and not a file: a slow
   * sender would have it for minutes.
   */
  private readonly turns = new KeyedSemaphore(FILE_PIECES);
  private readonly leaving = new KeyedSemaphore(FILE_PIECES);
  private chosen: StorageDriver | undefined;

  constructor(
    private readonly plugins: PluginRegistry,
    private readonly env: Env,
    private readonly space: DiskSpace,
    @Inject(Installation) private readonly installation: Pick<Installation, 'mark'>,
  ) {}

  async onModuleInit(): Promise<void> {
    this.chosen = this.plugins.chosen(StorageDriver, 'STORAGE', this.env.variables.STORAGE);
    await this.chosen.begin(this.installation.mark);
  }

  /** Usable from the end of the boot on. */
  get driver(): StorageDriver {
    if (this.chosen === undefined) throw new Error('No storage has been chosen in this process yet.');
    return this.chosen;
  }

  /**
   * Stores a stream, without ever holding it in memory; when it resolves the bytes are safe. A row must point at them within the hour,
   * or they are removed as left over. When it rejects (`tooLong`, `storage_full`, `unavailable`, the stream's own error, the storage's) nothing is left and the
   * stream is destroyed.
   */
  async put(workspaceId: string, content: Readable, options: PutOptions = {}): Promise<PutFile> {
    // An error before the first read has no listener yet and would end the process; reading throws it again.
    content.on('error', () => undefined);
    const bytes = new MeasuredBytes(content, options, this.space, () => this.turns.acquire(workspaceId));
    try {
      await this.driver.put(workspaceId, bytes);
      const { head, sha256, size } = bytes;
      const mediaType =
        (await sniff(head)) ?? declared(options.declaredType) ?? typeByName(options.name) ?? UNKNOWN_TYPE;
      return { sha256, size, mediaType };
    } catch (error) {
      content.destroy();
      throw bytes.failure ?? failureOf(error);
    }
  }

  /** As {@link StorageDriver.open}. Rejects with {@link BytesGoneError}, `unavailable`, or {@link StorageError}. */
  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }> {
    try {
      return await this.driver.open(workspaceId, sha256, range);
    } catch (error) {
      throw error instanceof BytesGoneError ? error : failureOf(error);
    }
  }

  /**
   * The pieces of an open file, for who works on each in this process: an archive's checksum takes 0.25 ms for 64 KiB. They take turns
   * among those of their workspace, which end with the round of the event loop: what is done with a piece at once is done by then,
   * and a client that reads slowly has no turn.
   */
  async *inTurns(workspaceId: string, stream: Readable): AsyncGenerator<Buffer, void> {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      setImmediate(await this.leaving.acquire(workspaceId));
      yield piece;
    }
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof StorageUnavailableError)
    return unavailable('The storage of files cannot be reached or is busy.', error);
  return new StorageError(error);
}

/** What passes through is counted, hashed, and remembered at its beginning. */
class MeasuredBytes implements ArrivingBytes {
  size = 0;
  private readonly first: Buffer[] = [];
  private readonly hash = createHash('sha256');
  private digest: string | null = null;
  /** Why reading ended early: the client's fault, or the line's, and not the storage's. */
  failure: Error | undefined;

  constructor(
    private readonly content: Readable,
    private readonly limit: Pick<PutOptions, 'maxBytes' | 'tooLong'>,
    private readonly space: DiskSpace,
    private readonly turn: () => Promise<() => void>,
  ) {}

  get head(): Buffer {
    return Buffer.concat(this.first);
  }

  get sha256(): string {
    if (this.digest === null) throw new Error('The storage driver has not read all bytes.');
    return this.digest;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const chunk of this.read()) {
      const end = await this.turn();
      try {
        this.measure(chunk);
        yield chunk;
      } finally {
        end();
      }
    }
    this.digest = this.hash.digest('hex');
  }

  private measure(chunk: Buffer): void {
    const { maxBytes = Infinity, tooLong } = this.limit;
    if (this.size + chunk.length > maxBytes) throw (this.failure = tooLong ?? tooLarge(maxBytes));
    this.requireSpace();
    if (this.size < SNIFFED_BYTES) this.first.push(chunk.subarray(0, SNIFFED_BYTES - this.size));
    this.size += chunk.length;
    this.hash.update(chunk);
  }

  /** Also in the middle: a hundred uploads that began above the reserve would use it up. */
  private requireSpace(): void {
    try {
      this.space.requireForFile();
    } catch (error) {
      throw (this.failure = error as Error);
    }
  }

  private async *read(): AsyncGenerator<Buffer, void> {
    try {
      yield* this.content as AsyncIterable<Buffer>;
    } catch (error) {
      this.failure = error as Error;
      throw error;
    }
  }
}
