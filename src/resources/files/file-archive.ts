// The answer with all files of a task as one zip (reference §7, docs/decisions/0061).
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import { makeZip, predictLength } from 'client-zip';
import type { Request, Response } from 'express';
import type { DocumentedAnswer } from '../../platform/http/endpoint.js';
import { ArchiveNames, harmless } from './archive-names.js';
import { attachment } from './file-name.js';
import type { ArchivedFile } from './files.sql.js';
import type { FileStorage } from './storage/file-storage.js';

const ATTACHMENTS = 'attachments';

export const ARCHIVE_ANSWERS: Record<number, DocumentedAnswer> = {
  200: {
    description: 'The archive.',
    content: { 'application/zip': null },
    headers: {
      'Content-Disposition': '`attachment`, with the title of the task.',
      'Content-Security-Policy': 'Always `sandbox`.',
    },
  },
};

/** Answers a GET or HEAD. Rejects with the storage's error, before anything is sent, when the first file cannot be opened. */
export async function sendArchive(
  req: Request,
  res: Response,
  { title, files }: { title: string; files: ArchivedFile[] },
  storage: FileStorage,
): Promise<void> {
  const entries = named(files);
  const head = headers(title, entries);
  if (req.method === 'HEAD') {
    res.writeHead(200, head).end();
    return;
  }
  const opener = new Opener(entries, storage);
  await opener.first();
  res.writeHead(200, head);
  try {
    // Ends the connection when reading fails: the length is known, so part of an archive does not look whole.
    await pipeline(Readable.fromWeb(makeZip(opener.all())), res);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') new Logger('files').error(`Archive of ${opener.current}: ${message}`);
  } finally {
    opener.close();
  }
}

interface Entry {
  file: ArchivedFile;
  name: string;
  size: number;
}

/** What the agent published, and in a folder of their own, as in the workdir, the attachments. */
function named(files: ArchivedFile[]): Entry[] {
  const [published, attached] = [new ArchiveNames(ATTACHMENTS), new ArchiveNames()];
  return files.map((file) => {
    const { origin, name, path, size } = file;
    if (origin !== 'attachment') return { file, name: published.add(name), size };
    return { file, name: `${ATTACHMENTS}/${attached.add(path ?? name)}`, size };
  });
}

function headers(title: string, entries: Entry[]): OutgoingHttpHeaders {
  return {
    'Content-Type': 'application/zip',
    // Files are stored as they are, so the length is known.
    'Content-Length': String(predictLength(entries)),
    'Content-Disposition': attachment(`${harmless(title.replace(/[/\\]/g, '-'))}.zip`),
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Opens one file after the other, each when the archive has come to it. */
class Opener {
  /** Which file is read, for the log. */
  current = 'a task without files';
  private opened: Readable | undefined;
  private closed = false;

  constructor(
    private readonly entries: Entry[],
    private readonly storage: FileStorage,
  ) {}

  /** Opens the first file, if there is one. */
  async first(): Promise<void> {
    const [entry] = this.entries;
    if (entry !== undefined) this.opened = await this.open(entry);
  }

  async *all(): AsyncGenerator<{ name: string; lastModified: Date; input: AsyncIterable<Buffer> }, void> {
    for (const [index, entry] of this.entries.entries()) {
      const opened = index === 0 && this.opened !== undefined ? this.opened : await this.open(entry);
      this.opened = opened;
      // The client has gone while it was opened.
      if (this.closed) return this.close();
      const { workspaceId, createdAt: lastModified } = entry.file;
      yield { name: entry.name, lastModified, input: this.storage.inTurns(workspaceId, opened) };
    }
  }

  /** The archive does not close what it reads when it is given up. */
  close(): void {
    this.closed = true;
    this.opened?.destroy();
  }

  private async open({ file: { workspaceId, sha256 }, name }: Entry): Promise<Readable> {
    this.current = `${name} (${sha256})`;
    return (await this.storage.open(workspaceId, sha256)).stream;
  }
}
