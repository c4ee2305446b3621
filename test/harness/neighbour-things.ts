// What takes more than a request to make for the cross-workspace suite.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from '../../src/engine/snapshots/snapshots.js';
import { newId } from '../../src/platform/database/ids.js';
import { SnapshotStore } from '../../src/resources/snapshots/snapshot-store.js';
import type { TestApp } from './app.js';
import type { Member } from './client.js';
import { temporaryFolder } from './service.js';

/** Two snapshots of a folder with two files. */
export async function makeSnapshots(
  { app, db }: TestApp,
  { workspace }: Member,
  task: string,
  text: string,
): Promise<void> {
  const folder = temporaryFolder();
  for (const name of [text, `${text}.2`]) writeFileSync(join(folder.path, name), text);
  const objects = app.get(SnapshotStore, { strict: false }).of(workspace.id, new AbortController().signal);
  const made = await capture({ workdir: folder.path }, null, objects, AbortSignal.timeout(60_000));
  folder.remove();
  await db.query(
    `INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
     SELECT id, $1, $2, turn, 1, 2, 14, $3 FROM unnest($4::uuid[]) WITH ORDINALITY made (id, turn)`,
    [workspace.id, task, made?.manifest, [newId(), newId()]],
  );
}

/** With two versions and two builds. */
export async function makeEnvironment(
  { db }: TestApp,
  { client, workspace }: Member,
  slug: string,
  text: string,
): Promise<string> {
  const made = await client.post('/v1/environments', { slug, name: text, setup: [text] });
  const changed = await client.patch(`/v1/environments/${slug}`, { variables: { TEXT: text } });
  if (made.status !== 201 || changed.status !== 200) throw new Error(`${made.text} ${changed.text}`);
  await db.query(
    `INSERT INTO environment_builds (id, workspace_id, environment_id, version, driver, state, log)
     SELECT b.id, $1, e.id, 1, 'none', 'failed', $3 FROM environments e, unnest($4::uuid[]) b(id) WHERE e.workspace_id = $1 AND e.slug = $2`,
    [workspace.id, slug, text, [newId(), newId()]],
  );
  return slug;
}
