import type { ProjectRow } from './project.row.js';

/** A project as clients see it (reference §4). */
export function projectView(row: ProjectRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    owner: { id: row.ownerId, name: row.ownerName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
