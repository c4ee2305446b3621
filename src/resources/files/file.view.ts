import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import type { FileRow } from './files.sql.js';
import type { UploadRow } from './uploads.service.js';

const size = z.int().min(0).describe('Bytes.');

export const uploadSchema = named(
  'Upload',
  z.strictObject({ id: idSchema, name: z.string(), mediaType: z.string(), size, expiresAt: timestampSchema }),
  { description: 'Temporary: to be attached to a task or message within 24 hours.' },
);

export const fileSchema = named(
  'File',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    mediaType: z.string(),
    size,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    origin: z.enum(['attachment', 'task', 'project']),
    taskId: idSchema.nullable(),
    projectId: idSchema.nullable(),
    createdBy: personSchema.describe('Who uploaded it; of what the agent published, whose task it is.'),
    downloadUrl: z.string().describe('Absolute; needs the credential like any other request.'),
    createdAt: timestampSchema,
  }),
  { description: 'Files do not change.' },
);

/** An upload as clients see it (reference §7). */
export function uploadView({ id, name, mediaType, size, expiresAt }: UploadRow): z.output<typeof uploadSchema> {
  return { id, name, mediaType, size, expiresAt: expiresAt.toISOString() };
}

/** A file as clients see it (reference §7). `origin`: scheme and host for the absolute link. */
export function fileView(row: FileRow, origin: string): z.output<typeof fileSchema> {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.mediaType,
    size: row.size,
    sha256: row.sha256,
    // No statement gives a view another one.
    origin: row.origin as Exclude<FileRow['origin'], 'shown' | 'skill'>,
    taskId: row.taskId,
    projectId: row.projectId,
    createdBy: { id: row.createdById, name: row.createdByName },
    downloadUrl: downloadUrl(row.id, origin),
    createdAt: row.createdAt.toISOString(),
  };
}

/** Where the bytes of a file are read. */
export function downloadUrl(fileId: string, origin: string): string {
  return `${origin}/v1/files/${fileId}/content`;
}
