// What takes more than a request to make for the cross-workspace suite.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from '../../src/engine/snapshots/snapshots.js';
import { newId } from '../../src/platform/database/ids.js';
import { SnapshotStore } from '../../src/resources/snapshots/snapshot-store.js';
import { changeAgent, createAgent } from './agents.js';
import type { TestApp } from './app.js';
import type { Member } from './client.js';
import { temporaryFolder } from './service.js';
import { pushSkill } from './skills.js';

/** Of the commands that {@link makeChecksAndCommands} makes: no other task has one of the name. */
export const COMMAND_NAMES = ['b7001', 'b7002'];

/** Two of each, whose words are a canary. */
export async function makeChecksAndCommands({ db }: TestApp, task: string, canary: string): Promise<void> {
  const ids = () => [newId(), newId()];
  await db.query(
    `INSERT INTO task_checks (id, task_id, turn, round, name, command, required, status, exit_code, duration_ms, output, output_bytes, output_sha256)
     SELECT id, $1, 1, 0, 'tests', $2, true, 'failed', 1, 1, $2, 0, '' FROM unnest($3::uuid[]) id`,
    [task, canary, ids()],
  );
  await db.query(
    `INSERT INTO task_commands (id, task_id, number, tool_call_id, command, terminal, status, output)
     SELECT id, $1, 7000 + n, 'call', $2, false, 'exited', $2
     FROM unnest($3::uuid[]) WITH ORDINALITY AS made(id, n)`,
    [task, canary, ids()],
  );
}

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

/** With two versions and two builds; and an agent of that name, `canary-one` with two versions. */
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
  await createAgent(client, { slug, name: text, instructions: text, description: text });
  // The other ones are at version 1, as the body of the endpoint table has it.
  if (slug === 'canary-one') await changeAgent(client, slug, { instructions: `${text}.` });
  return slug;
}

/** With two versions. Resolves with its id. */
export async function makeSkill(service: TestApp, member: Member, name: string, text: string): Promise<string> {
  await pushSkill(service, member, name, text);
  return (await pushSkill(service, member, name, `${text} again`)).id;
}

/** Of the agent of that name, in its first version. */
export async function makeEvaluation({ client }: Member, slug: string): Promise<string> {
  const given = { versions: [1], cases: [{ content: 'Nothing to do.' }] };
  const { body, text } = await client.post<{ evaluation?: { id: string } }>(`/v1/agents/${slug}/evaluate`, given);
  if (body.evaluation === undefined) throw new Error(text);
  return body.evaluation.id;
}
