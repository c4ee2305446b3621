import type { FileRow, UploadRow } from './file.row.js';

/** An upload as clients see it (reference §7). */
export function uploadView({ id, name, mediaType, size, expiresAt }: UploadRow) {
  return { id, name, mediaType, size, expiresAt: expiresAt.toISOString() };
}

/** A file as clients see it (reference §7). `origin`: scheme and host for the absolute link. */
export function fileView(row: FileRow, origin: string) {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.mediaType,
    size: row.size,
    sha256: row.sha256,
    origin: row.origin,
    taskId: row.taskId,
    projectId: row.projectId,
    createdBy: row.createdById === null ? null : { id: row.createdById, name: row.createdByName },
    downloadUrl: downloadUrl(row.id, origin),
    createdAt: row.createdAt.toISOString(),
  };
}

/** Where the bytes of a file are read. */
export function downloadUrl(fileId: string, origin: string): string {
  return `${origin}/v1/files/${fileId}/content`;
}
