// The skills that a repository brings, as they are in the original commit: kept on the host when it is cloned, where nothing of the agent comes (reference §27).
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type InputSkill, skillsAmong } from '../skills/task-skills.js';
import { SKILL_FILE, SKILL_NAME } from '../skills/skill-file.js';
import { type HostGit, MAX_OUTPUT } from './host-git.js';

/** Of two skills of one name the one in the first folder counts. */
const FOLDERS = ['.agents/skills/', '.claude/skills/'];
/** Of one skill. */
const [MAX_FILES, MAX_BYTES] = [500, 30 * 1024 * 1024];
/** Bytes of all: what is beyond is left out. */
const MAX_ALL = 100 * 1024 * 1024;
const [INDEX, BYTES] = ['skills.json', 'skills.bytes'];

/** The names of what may be kept. */
export const SKILL_FILES = [BYTES, INDEX];

interface Found {
  /** Behind the folder of skills. */
  path: string;
  executable: boolean;
  object: string;
  size: number;
}
interface Kept extends Pick<Found, 'path' | 'executable' | 'size'> {
  offset: number;
}

/** Writes them into a folder; nothing, where the commit has none. */
export async function keepSkills(git: HostGit, commit: string, folder: string): Promise<void> {
  const found = chosen(await git.run(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, '--', ...FOLDERS]));
  if (found.length === 0) return;
  const input = found.map(({ object }) => `${object}\n`).join('');
  await git.run(['cat-file', '--batch', '--buffer'], { input, output: join(folder, BYTES) });
  let at = 0;
  const kept = found.map(({ path, executable, object, size }): Kept => {
    const offset = at + `${object} blob ${size}\n`.length;
    at = offset + size + 1;
    return { path, executable, size, offset };
  });
  await writeFile(join(folder, INDEX), JSON.stringify(kept), { mode: 0o600 });
}

/** What {@link keepSkills} has kept. */
export function keptSkills(folder: string): InputSkill[] {
  // One that was cloned by an earlier version has none.
  if (!existsSync(join(folder, INDEX))) return [];
  const kept = JSON.parse(readFileSync(join(folder, INDEX), 'utf8')) as Kept[];
  const file = join(folder, BYTES);
  const open =
    ({ offset, size }: Kept) =>
    () =>
      Promise.resolve(
        size === 0 ? Readable.from([]) : createReadStream(file, { start: offset, end: offset + size - 1 }),
      );
  return skillsAmong(kept.map((one) => ({ path: one.path, executable: one.executable, open: open(one) })));
}

/** Links are left out: they lead to what is none of the skill, or out of it. */
function chosen(printed: string): Found[] {
  // The last one may be a part of one.
  const entries = printed.split('\0').slice(0, Buffer.byteLength(printed) < MAX_OUTPUT ? undefined : -1);
  const skills = new Map<string, { folder: string; files: Found[]; bytes: number }>();
  for (const folder of FOLDERS) {
    for (const entry of entries) {
      const [, mode = '', object = '', bytes, whole = ''] =
        /^(100[67][45][45]) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(entry) ?? [];
      if (!whole.startsWith(folder) || whole.includes('\ufffd')) continue;
      const path = whole.slice(folder.length);
      const name = path.slice(0, Math.max(0, path.indexOf('/')));
      const skill = skills.get(name) ?? { folder, files: [], bytes: 0 };
      if (!SKILL_NAME.test(name) || skill.folder !== folder) continue;
      skill.files.push({ path, executable: mode === '100755', object, size: Number(bytes) });
      skill.bytes += Number(bytes);
      skills.set(name, skill);
    }
    // A folder without one is no skill, and takes no name.
    for (const [name, { files }] of skills)
      if (!files.some(({ path }) => path === `${name}/${SKILL_FILE}`)) skills.delete(name);
  }
  let left = MAX_ALL;
  return [...skills.values()].flatMap(({ files, bytes }) => {
    if (files.length > MAX_FILES || bytes > MAX_BYTES || bytes > left) return [];
    left -= bytes;
    return files;
  });
}
