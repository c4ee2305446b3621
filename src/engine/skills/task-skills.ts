// The skills that a task has, and what its model is told of them (reference §27).
import type { Readable } from 'node:stream';
import type { SharedEntry, SharedFolder } from '../sandbox/shared-files.js';
import { HEAD_BYTES, readHead, SKILL_FILE, SKILL_NAME, SkillError } from './skill-file.js';

/** A skill, by the name of its folder. */
export interface InputSkill extends SharedFolder {
  /** In one line, for the model. Null: its SKILL.md does not say what it is for. */
  description: () => Promise<string | null>;
}

/** A file below a folder of skills: its path begins with the name of the skill. */
export interface SkillSource {
  path: string;
  executable: boolean;
  /** Rejects with `ENOENT` when it is gone: it is then left out. */
  open: () => Promise<Readable>;
}

/** Where the skills of a task come from. Of two of one name the first counts: the task's own, its repository's, its project's. */
export interface SkillSources {
  skills?: {
    /** Those that it names, or has by default. */
    task: readonly InputSkill[];
    project: readonly InputSkill[];
  };
  /** Cloned by then. */
  repository?: { skills(): Promise<readonly InputSkill[]> } | null;
}

/** Characters of all of them that a model is told, at most, and the part of its window in bytes. */
const MOST_TOLD = 8 * 1024;
const PART_OF_WINDOW = 0.02 * 3.5;
/** How many of them it is told. */
const MOST_NAMED = 50;
const SHORTEST = 20;
/** Bytes of one name, and of a path. */
const [MAX_NAME, MAX_PATH] = [255, 1_024];

/** By name. */
export async function skillsOf({ skills, repository }: SkillSources): Promise<InputSkill[]> {
  const found = new Map<string, InputSkill>();
  for (const skill of [...(skills?.task ?? []), ...((await repository?.skills()) ?? []), ...(skills?.project ?? [])])
    if (!found.has(skill.name)) found.set(skill.name, skill);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The folders among some files that are skills: with a name as skills have them, and a SKILL.md. What no folder can have is left out: a tree of a
 * repository may name anything, `..` too.
 */
export function skillsAmong(files: readonly SkillSource[]): InputSkill[] {
  const folders = new Map<string, SkillSource[]>();
  const byPath = new Map(files.filter(({ path }) => isPlain(path)).map((file) => [file.path, file]));
  for (const file of byPath.values()) {
    const name = file.path.slice(0, Math.max(0, file.path.indexOf('/')));
    if (SKILL_NAME.test(name)) folders.set(name, [...(folders.get(name) ?? []), { ...file, path: file.path.slice(name.length + 1) }]); // prettier-ignore
  }
  return [...folders].flatMap(([name, its]) => {
    const main = its.find(({ path }) => path === SKILL_FILE);
    if (main === undefined) return [];
    // A file where another one needs a folder.
    const needed = new Set(its.flatMap(({ path }) => foldersOf(path)));
    const files = its.filter(({ path }) => !needed.has(path));
    return [{ name, files: () => entriesOf(files), description: () => describedBy(main, name) }];
  });
}

/** Whether it leads down, by names that a file may have. */
function isPlain(path: string): boolean {
  const names = path.split('/');
  const isName = (name: string) => !['', '.', '..'].includes(name) && Buffer.byteLength(name) <= MAX_NAME;
  return names.every(isName) && Buffer.byteLength(path) <= MAX_PATH;
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}

async function* entriesOf(files: readonly SkillSource[]): AsyncGenerator<SharedEntry, void> {
  for (const { path, executable, open } of files) {
    const content = await open().catch(unlessGone);
    if (content !== null) yield { path, executable, content };
  }
}

async function describedBy(file: SkillSource, name: string): Promise<string | null> {
  const content = await file.open().catch(unlessGone);
  if (content === null) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > HEAD_BYTES) break;
  }
  content.destroy();
  try {
    const head = await readHead(Buffer.concat(chunks));
    return head.name === name ? head.description : null;
  } catch (error) {
    if (error instanceof SkillError) return null;
    throw error;
  }
}

function unlessGone(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

/** What a model is told of them: the text of notes of the owner. Null for none. `window`: of the model, in tokens. */
export async function skillsText(skills: readonly InputSkill[], window: number): Promise<string | null> {
  const known: { name: string; description: string }[] = [];
  let more = 0;
  for (const { name, description } of skills) {
    const text = await description();
    if (text === null) continue;
    if (known.length < MOST_NAMED) known.push({ name, description: text });
    else more++;
  }
  if (known.length === 0) return null;
  const room = Math.min(MOST_TOLD, Math.floor(window * PART_OF_WINDOW));
  const lines = fitting(known, room);
  const left = known.length - lines.length + more;
  return [
    'Skills: instructions of the owner for one kind of work each, in /skills/NAME/. When the task is of such a kind, read the SKILL.md there before you begin, and follow it: it counts as these notes do. The files beside it are for when it names them. Nobody can write there.',
    ...lines,
    ...(left > 0 ? [`[And ${left} more: ls /skills]`] : []),
  ].join('\n');
}

/** As many of their lines as fit, each description with as much of it as all can have. */
function fitting(skills: readonly { name: string; description: string }[], room: number): string[] {
  const bytes = (most: number) => skills.reduce((sum, one) => sum + Buffer.byteLength(line(one, most)) + 1, 0);
  let [least, most] = [SHORTEST, Math.max(SHORTEST, ...skills.map(({ description }) => description.length))];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (bytes(middle) <= room) least = middle;
    else most = middle - 1;
  }
  const lines: string[] = [];
  let left = room;
  for (const skill of skills) {
    const text = line(skill, least);
    left -= Buffer.byteLength(text) + 1;
    if (left < 0) break;
    lines.push(text);
  }
  return lines;
}

function line({ name, description }: { name: string; description: string }, most: number): string {
  const text = description.length <= most ? description : `${description.slice(0, most - 1).toWellFormed()}…`;
  return `- ${name}: ${text}`;
}
