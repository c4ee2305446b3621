import type { TestApp } from './app.js';
import type { ErrorBody, Member } from './client.js';
import { type ZipEntry, zipOf } from './zips.js';

export const SKILLS = '/v1/skills';

export interface SkillBody {
  id: string;
  name: string;
  version: number;
  description: string;
  files: number;
  bytes: number;
  sha256: string;
  default: boolean;
  createdBy: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

/** A SKILL.md. */
export const skillFile = (name: string, description = `How to do ${name}.`, body = '# Steps\n') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`;

/** A zip with a SKILL.md at its root, and further files. */
export const skillZip = (name: string, description?: string, ...more: ZipEntry[]): Buffer<ArrayBuffer> =>
  zipOf([{ name: 'SKILL.md', content: skillFile(name, description) }, ...more]);

export interface Pushed<T> {
  status: number;
  location: string | null;
  body: T;
}

/** Uploads a zip as a member. */
export async function pushZip<T = ErrorBody>(
  { url }: Pick<TestApp, 'url'>,
  { key }: Pick<Member, 'key'>,
  zip: Uint8Array<ArrayBuffer>,
): Promise<Pushed<T>> {
  const body = new FormData();
  body.append('file', new Blob([zip], { type: 'application/zip' }), 'skill.zip');
  const headers = { Authorization: `Bearer ${key.secret}` };
  const answer = await fetch(url + SKILLS, { method: 'POST', headers, body });
  return { status: answer.status, location: answer.headers.get('location'), body: (await answer.json()) as T };
}

/** Uploads a skill; fails unless that is answered with 201. */
export async function pushSkill(
  service: Pick<TestApp, 'url'>,
  member: Pick<Member, 'key'>,
  name: string,
  description?: string,
  ...more: ZipEntry[]
): Promise<SkillBody> {
  const { status, body } = await pushZip<{ skill: SkillBody }>(service, member, skillZip(name, description, ...more));
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body.skill;
}
