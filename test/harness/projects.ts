import type { TestApp } from './app.js';
import type { Member } from './client.js';

export interface ProjectBody {
  id: string;
  name: string;
  description: string | null;
  visibility: string;
  owner: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

/** Makes a project as a member; fails unless that is answered with 201. */
export async function createProject(
  { client }: Pick<Member, 'client'>,
  json: Record<string, unknown> = { name: 'Project' },
): Promise<ProjectBody> {
  const { status, body, text } = await client.post<{ project: ProjectBody }>('/v1/projects', json);
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return body.project;
}

/** Puts a task that is a bare row into a project. */
export async function putIntoProject({ db }: TestApp, taskId: string, projectId: string | null): Promise<void> {
  await db.query('UPDATE tasks SET project_id = $2 WHERE id = $1', [taskId, projectId]);
}

export interface FileBody {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  sha256: string;
  origin: string;
  taskId: string | null;
  projectId: string | null;
  createdBy: { id: string; name: string };
  downloadUrl: string;
  createdAt: string;
}

/** Adds a file to a project as a member; fails unless that is answered with 201. */
export async function addProjectFile(
  { url }: TestApp,
  { key }: Member,
  projectId: string,
  bytes: string | Uint8Array<ArrayBuffer>,
  name = 'a.txt',
): Promise<FileBody> {
  const body = new FormData();
  body.append('file', new Blob([bytes], { type: 'text/plain' }), name);
  const headers = { Authorization: `Bearer ${key.secret}` };
  const answer = await fetch(`${url}/v1/projects/${projectId}/files`, { method: 'POST', headers, body });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { file: FileBody }).file;
}
