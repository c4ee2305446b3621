import { readdir, readlink } from 'node:fs/promises';
import { v7 as uuid } from 'uuid';
import type { AuthContext } from '../../src/access/auth/auth-context.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import type { FileRow } from '../../src/resources/files/files.sql.js';
import { FilesService } from '../../src/resources/files/files.service.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { TestApp } from './app.js';
import type { Member } from './client.js';
import { checkAnswer } from './contract.js';

export interface Upload {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  expiresAt: string;
}

interface UploadOptions {
  name?: string;
  type?: string;
}

/** Uploads bytes as a member; fails unless that is answered with 201. */
export async function upload(
  service: TestApp,
  member: Member,
  bytes: string | Uint8Array<ArrayBuffer>,
  { name = 'a.txt', type = 'text/plain' }: UploadOptions = {},
): Promise<Upload> {
  const form = new FormData();
  form.append('file', new Blob([bytes], { type }), name);
  const answer = await postForm(service, member, form);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { upload: Upload }).upload;
}

/** As {@link fetch}; the answer must be one that the service's own document describes. */
export async function checkedFetch(service: TestApp, path: string, options: RequestInit): Promise<Response> {
  const response = await fetch(service.url + path, options);
  const { status, headers } = response;
  const text = await response.clone().text();
  await checkAnswer(service.url, { method: options.method ?? 'GET', path, status, headers, text });
  return response;
}

export function postForm(
  service: TestApp,
  member: Member,
  body: FormData | string,
  type?: string,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${member.key.secret}`,
    ...(type === undefined ? {} : { 'Content-Type': type }),
    ...more,
  };
  return checkedFetch(service, '/v1/uploads', { method: 'POST', headers, body });
}

/** A task as a bare row, for what hangs on it. */
export async function makeTask({ db }: TestApp, { workspace, user }: Member): Promise<string> {
  const id = uuid();
  const sql = `INSERT INTO tasks (id, workspace_id, created_by, title, status, model) VALUES ($1, $2, $3, 'T', 'completed', 'm')`;
  await db.query(sql, [id, workspace.id, user.id]);
  return id;
}

/** Attaches uploads to a task, as the routes that take attachments do; `meanwhile` runs before the commit. */
export function attach(
  { app }: TestApp,
  { workspace, user }: Member,
  taskId: string,
  uploadIds: string[],
  meanwhile?: () => Promise<void>,
): Promise<FileRow[]> {
  const auth = { workspaceId: workspace.id, userId: user.id, user: { name: 'Somebody' } } as AuthContext;
  return app.get(Transactions).open(async (tx) => {
    const files = await app.get(FilesService, { strict: false }).claimUploads(tx, auth, taskId, uploadIds);
    await meanwhile?.();
    return files;
  });
}

/** The names of all files that lie in the service's storage, without the objects of snapshots that it knows. */
export async function storedFiles({ app, db }: TestApp): Promise<string[]> {
  const found = await readdir(`${app.get(DataDir).path}/files`, { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  const objects = await db.query<{ sha256: string }>('SELECT sha256 FROM snapshot_objects');
  const snapshots = new Set(objects.map(({ sha256 }) => sha256));
  return found.filter((entry) => entry.isFile() && !snapshots.has(entry.name)).map((entry) => entry.name);
}

/** How many files of the service's storage this process holds open. */
export async function openFiles({ app }: TestApp): Promise<number> {
  const root = `${app.get(DataDir).path}/files`;
  const fds = await readdir('/proc/self/fd');
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link.startsWith(root)).length;
}
