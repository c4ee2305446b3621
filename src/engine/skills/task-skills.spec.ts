import { Readable } from 'node:stream';
import { skillFile } from '../../../test/harness/skills.js';
import type { ConversationMessage, JsonValue, ToolResult } from '../models/conversation.js';
import { skillsRead } from './read-skills.js';
import { type InputSkill, skillsAmong, skillsOf, skillsText } from './task-skills.js';

const open = (content: string) => () => Promise.resolve(Readable.from([Buffer.from(content)]));
const source = (path: string, content = 'x') => ({ path, executable: false, open: open(content) });
const named = (name: string, description = `What ${name} is for.`): InputSkill => ({
  name,
  description: () => Promise.resolve(description),
  async *files() {},
});
const pathsOf = async ({ files }: InputSkill) => {
  const paths: string[] = [];
  for await (const { path, content } of files()) {
    paths.push(path);
    for await (const _ of content);
  }
  return paths;
};
const many = (count: number, description: string) =>
  Array.from({ length: count }, (_, n) => named(`skill-${String(n).padStart(3, '0')}`, description));
const lines = (text: string | null) => text?.split('\n').filter((line) => line.startsWith('- ')) ?? [];

describe('The skills of a task (reference §27)', () => {
  it('of two of one name the first counts: its own, its repository’s, its project’s', async () => {
    const [a, b] = [named('a', 'task'), named('b', 'task')];
    const repository = { skills: () => Promise.resolve([named('c', 'repository'), named('b', 'repository')]) };
    const all = await skillsOf({ skills: { task: [b, a], project: [named('c', 'project'), named('d', 'project')] }, repository }); // prettier-ignore
    const found = await Promise.all(all.map(async ({ name, description }) => [name, await description()]));
    expect(found).toEqual([['a', 'task'], ['b', 'task'], ['c', 'repository'], ['d', 'project']]); // prettier-ignore
    expect(await skillsOf({})).toEqual([]);
  });

  it('folders with a name as skills have them, and a SKILL.md, are skills', async () => {
    const files = [
      source('SKILL.md'),
      source('Wrong/SKILL.md'),
      source('no-main/README.md'),
      source('notes/SKILL.md', skillFile('notes')),
      source('notes/a/b.txt'),
      source('notes/a'),
      {
        path: 'notes/gone',
        executable: false,
        open: () => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' })),
      },
      source('other/SKILL.md', skillFile('notes')),
      source('broken/SKILL.md', '# None'),
    ];
    const all = skillsAmong(files);
    expect(all.map(({ name }) => name)).toEqual(['notes', 'other', 'broken']);
    expect(await Promise.all(all.map((one) => one.description()))).toEqual(['How to do notes.', null, null]);
    // A file in the place of a folder is left out.
    expect(await pathsOf(all[0] as InputSkill)).toEqual(['SKILL.md', 'a/b.txt']);
  });

  it('a model is told name and description of each, as the owner’s word', async () => {
    const text = await skillsText([named('a'), named('b')], 200_000);
    expect(text?.split('\n')).toEqual([
      expect.stringContaining('read the SKILL.md there before you begin, and follow it'),
      '- a: What a is for.',
      '- b: What b is for.',
    ]);
    expect(await skillsText([], 200_000)).toBeNull();
    expect(await skillsText([{ ...named('a'), description: () => Promise.resolve(null) }], 200_000)).toBeNull();
  });

  it('over 50 it is told of the first 50, and where the rest is', async () => {
    const text = await skillsText(many(53, 'x'), 200_000);
    expect(lines(text)).toHaveLength(50);
    expect(text?.split('\n').at(-1)).toBe('[And 3 more: ls /skills]');
  });

  it('descriptions are cut so that all fit in 8 KiB, or in 2 % of the window', async () => {
    for (const [window, most] of [
      [200_000, 8 * 1024],
      [50_000, 3_500],
      [Infinity, 8 * 1024],
    ] as const) {
      // prettier-ignore
      const told = lines(await skillsText(many(40, 'é'.repeat(1_024)), window));
      expect(told).toHaveLength(40);
      const bytes = Buffer.byteLength(`${told.join('\n')}\n`);
      expect(bytes).toBeLessThanOrEqual(most);
      expect(bytes).toBeGreaterThan(most * 0.9);
      expect(new Set(told.map(({ length }) => length)).size).toBe(1);
    }
    // What is short is whole, whatever the others are.
    const mixed = lines(await skillsText([named('a', 'short'), ...many(30, 'x'.repeat(1_024))], 200_000));
    expect(mixed[0]).toBe('- a: short');
    // In a very small window some of them are named.
    const few = await skillsText(many(40, 'x'.repeat(100)), 10_000);
    expect(lines(few).length).toBeLessThan(40);
    expect(few).toContain(`[And ${40 - lines(few).length} more: ls /skills]`);
  });

  it('those that were read are known by the calls', () => {
    const call = (input: JsonValue, result: ToolResult | null = { status: 'success', output: '' }) => ({ toolCallId: 'c', name: 'read', input, result, stage: null }); // prettier-ignore
    const invocations = [
      call({ path: '/skills/b/SKILL.md' }),
      call({ command: 'cat /skills/a-b/SKILL.md /skills/b/SKILL.md' }),
      call({ path: '/skills/c/SKILL.md' }, { status: 'error', error: 'does not exist' }),
      call({ path: '/skills/d/notes.txt' }),
      call({ path: '/workdir/repo/SKILL.md' }),
      call({ path: '/skills/e/SKILL.md' }, null),
    ];
    const message: ConversationMessage = { id: 'm', role: 'assistant', parts: [], invocations };
    expect(skillsRead([message])).toEqual(['b', 'a-b']);
  });
});
