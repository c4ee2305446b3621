export interface UploadRow {
  id: string;
  name: string;
  mediaType: string;
  /** Bytes. */
  size: number;
  expiresAt: Date;
}

/** A file with its creator's name, as {@link FILE_SELECT} reads it. */
export interface FileRow {
  id: string;
  workspaceId: string;
  taskId: string | null;
  projectId: string | null;
  origin: 'attachment' | 'task' | 'project';
  name: string;
  /** Where an attachment lies in the workdir. */
  path: string | null;
  mediaType: string;
  /** Bytes. */
  size: number;
  sha256: string;
  /** Who uploaded it; of what the agent published, whose task it is. */
  createdById: string;
  createdByName: string;
  createdAt: Date;
}

/** Columns of a `files f` for a {@link FileRow}, but for its creator's name. bigint as float8: exact up to 2^53. */
export const FILE_COLUMNS = `
  f.id, f.workspace_id AS "workspaceId", f.task_id AS "taskId", f.project_id AS "projectId", f.origin, f.name, f.path,
  f.media_type AS "mediaType", f.size::float8 AS size, f.sha256, f.created_by AS "createdById", f.created_at AS "createdAt"`;

/** Reads files as {@link FileRow}s; append joins and conditions on `f`. */
export const FILE_SELECT = `
SELECT ${FILE_COLUMNS}, u.name AS "createdByName"
FROM files f JOIN users u ON u.id = f.created_by`;
