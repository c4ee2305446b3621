export const VISIBILITIES = ['private', 'workspace'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** A project with its owner's name, as {@link PROJECT_SELECT} reads it. */
export interface ProjectRow {
  id: string;
  name: string;
  description: string | null;
  visibility: Visibility;
  ownerId: string;
  ownerName: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Columns of a `projects p` for a {@link ProjectRow}, but for its owner's name. */
export const PROJECT_COLUMNS = `
  p.id, p.name, p.description, p.visibility, p.owner_id AS "ownerId", p.created_at AS "createdAt", p.updated_at AS "updatedAt"`;

/** Reads projects as {@link ProjectRow}s; append conditions on `p`. */
export const PROJECT_SELECT = `
SELECT ${PROJECT_COLUMNS}, u.name AS "ownerName" FROM projects p JOIN users u ON u.id = p.owner_id`;
