import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Millwright, Skill } from '@millwright/sdk';
import { saveTo } from '@millwright/sdk/node';
import { client } from './account.js';
import { type Line, UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';
import { zipOf } from './zip.js';

/** The verbs below `skill`. */
export const SKILLS: Record<string, Verb | undefined> = {
  push: {
    words: ['DIR'],
    options: {},
    async run(line) {
      const folder = line.word(0);
      if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new UsageError(`${folder} is no folder.`);
      if (!existsSync(join(folder, 'SKILL.md'))) throw new UsageError(`There is no SKILL.md in ${folder}.`);
      const zip = new File([zipOf(folder)], `${basename(resolve(folder))}.zip`);
      return print(line, await client().skills.push(zip));
    },
  },
  list: {
    words: [],
    options: {},
    async run(line) {
      for await (const one of client().skills.list()) print(line, one);
      return 0;
    },
  },
  show: {
    words: ['NAME|ID'],
    options: { out: 'text' },
    async run(line) {
      const mw = client();
      const [skill, version] = await named(mw, line.word(0));
      const out = line.text('out');
      if (out !== undefined) await saveTo(out, await mw.skills.content(skill.id, version === null ? {} : { version }));
      const versions = [];
      for await (const one of mw.skills.versions(skill.id)) if (version === null || one.version === version) versions.push(one);
      if (versions.length === 0) throw new UsageError(`${skill.name} has no version ${version}.`);
      if (line.json) console.log(JSON.stringify({ ...skill, versions }));
      else print(line, skill);
      if (!line.json) for (const one of versions) console.log(plain(`  version ${one.version}  ${one.files} files, ${one.bytes} bytes  ${one.createdAt}  ${one.createdBy.name}  ${one.description}`));
      return 0;
    },
  },
  remove: {
    words: ['NAME|ID'],
    options: {},
    async run(line) {
      const mw = client();
      const [skill] = await named(mw, line.word(0));
      const gone = await mw.skills.delete(skill.id);
      console.log(line.json ? JSON.stringify(gone) : plain(`Removed ${skill.name}`));
      return 0;
    },
  },
  default: {
    words: ['NAME|ID'],
    options: { off: 'switch' },
    async run(line) {
      const mw = client();
      const [skill] = await named(mw, line.word(0));
      return print(line, await mw.skills.update(skill.id, { default: !line.has('off') }));
    },
  },
}; // prettier-ignore

/** By its name, `name@3`, or its id. */
async function named(mw: Millwright, word: string): Promise<[skill: Skill, version: number | null]> {
  const [, name = word, version] = /^(.*)@([1-9]\d*)$/.exec(word) ?? [];
  for await (const one of mw.skills.list()) {
    if (one.name === name || one.id === name.toLowerCase())
      return [one, version === undefined ? null : Number(version)];
  }
  throw new UsageError(`There is no skill ${name}: 'mw skill list' shows them.`);
}

function print(line: Line, skill: Skill): number {
  if (line.json) console.log(JSON.stringify(skill));
  else
    console.log(
      plain(`${skill.name}  version ${skill.version}${skill.default ? '  default' : ''}  ${skill.description}`),
    );
  return 0;
}
