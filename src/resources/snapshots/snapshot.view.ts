import { z } from 'zod';
import type { FolderEntry } from '../../engine/snapshots/manifest-reader.js';
import { idSchema, named, timestampSchema } from '../../platform/http/schema.js';
import { servedType, typeByName, UNKNOWN_TYPE } from '../files/storage/media-type.js';
import type { SnapshotRow } from './snapshots.sql.js';

export const snapshotSchema = named(
  'Snapshot',
  z.strictObject({
    id: idSchema,
    turn: z.int().min(1),
    step: z.int().min(0).describe('How many steps the turn had then.'),
    files: z.int().min(0),
    bytes: z.number().min(0).describe('The sum of the sizes of its files.'),
    createdAt: timestampSchema,
  }),
  { description: 'What the folder of a task, its home and `/tmp` held at one moment.' },
);

export const folderEntrySchema = named(
  'FolderEntry',
  z.strictObject({
    path: z.string().describe('Relative to `/workdir`, or absolute in `/tmp` or the home.'),
    kind: z.enum(['file', 'folder', 'link']),
    size: z.number().min(0).describe('Bytes; 0 for a folder.'),
    mediaType: z.string().nullable().describe('Of a file, by its name.'),
    modifiedAt: timestampSchema,
  }),
);

export function snapshotView({
  id,
  turn,
  step,
  files,
  bytes,
  createdAt,
}: SnapshotRow): z.output<typeof snapshotSchema> {
  return { id, turn, step, files, bytes, createdAt: createdAt.toISOString() };
}

/** @param folder as paths of its entries begin, with a slash at its end; empty for `/workdir`. */
export function folderEntryView(folder: string, entry: FolderEntry): z.output<typeof folderEntrySchema> {
  const kind = entry.kind === 'd' ? 'folder' : entry.kind === 'l' ? 'link' : 'file';
  return {
    path: folder + entry.shown,
    kind,
    size: entry.size,
    mediaType: kind === 'file' ? typeOf(entry.shown) : null,
    modifiedAt: timeOf(entry.mtime).toISOString(),
  };
}

export function typeOf(name: string): string {
  return servedType(typeByName(name) ?? UNKNOWN_TYPE);
}

/** A file may have any time; beyond what a date can say it is that of 1970. */
function timeOf(mtime: string): Date {
  const time = new Date(Number(mtime) * 1000);
  return time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999 ? time : new Date(0);
}
