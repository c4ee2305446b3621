// Where the objects of snapshots lie in a storage: beside the files of their workspace, under an id of their own. A version of this service
// that is older than snapshots would otherwise remove them: no row that it knows points at them. It leaves what is of no workspace.

/** The workspace's id as a UUID of version 8 (RFC 9562 §5.8). Ids of workspaces have version 7, so it is nobody's. */
export function snapshotsPlace(workspaceId: string): string {
  return `${workspaceId.slice(0, 14)}8${workspaceId.slice(15)}`;
}

/** The same in SQL, of an expression. */
export const snapshotsPlaceOf = (id: string) => `overlay(${id}::text PLACING '8' FROM 15)::uuid`;
/** Whether an id is of such a place, in SQL. */
export const isSnapshotsPlace = (id: string) => `(substr(${id}::text, 15, 1) = '8')`;
/** The workspace that stored bytes are of, in SQL: whether they are of its snapshots or not. */
export const ownerOf = (id: string) =>
  `CASE WHEN ${isSnapshotsPlace(id)} THEN overlay(${id}::text PLACING '7' FROM 15)::uuid ELSE ${id} END`;
