// What a task is shown beside its folders: the files of its project and its skills (reference §7, §27).
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { AgentInput } from '../../engine/agent/agent-engine.js';
import type { SharedEntry } from '../../engine/sandbox/shared-files.js';
import { skillsAmong } from '../../engine/skills/task-skills.js';
import { freeName } from '../../resources/files/file-name.js';
import { PROJECT_SKILLS } from '../../resources/projects/project-skills.js';
import { filesOf } from '../../resources/skills/skill-zip.js';
import type { TaskInput } from './run-loader.sql.js';

type Open = (sha256: string) => Promise<Readable>;

export function sharedWith(
  task: Pick<TaskInput, 'project' | 'skills'>,
  open: Open,
): Pick<AgentInput, 'project' | 'skills'> {
  const all = task.project ?? [];
  const ofSkills = all.filter(({ name }) => name.startsWith(PROJECT_SKILLS));
  // The oldest comes first. Of two that lie at one path in a skill the last one is meant.
  const newest = new Map(ofSkills.map((file) => [file.name, file]));
  const inSkills = [...newest.values()].map(({ name, sha256 }) => {
    return { path: name.slice(PROJECT_SKILLS.length), executable: false, open: () => open(sha256) };
  });
  const named = task.skills ?? [];
  const skills = named.map(({ name, description, sha256 }) => {
    return { name, description: () => Promise.resolve(description), files: () => unpacked(sha256, open) };
  });
  const files = withFreeNames(all.filter((file) => !ofSkills.includes(file)));
  return {
    project: files.map(({ name, sha256 }) => ({ name, open: () => open(sha256) })),
    skills: { task: skills, project: skillsAmong(inSkills) },
  };
}

/** Nothing when it was deleted since the run began, and swept up. */
async function* unpacked(sha256: string, open: Open): AsyncGenerator<SharedEntry, void> {
  const zip = await open(sha256).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (zip !== null) yield* filesOf(await buffer(zip));
}

/** The oldest of equal names keeps it, the others get a number. */
function withFreeNames<T extends { name: string }>(files: T[]): T[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const name = freeName(file.name, taken);
    taken.add(name);
    return { ...file, name };
  });
}
