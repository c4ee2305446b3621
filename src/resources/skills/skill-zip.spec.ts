import { deflateRawSync } from 'node:zlib';
import { skillFile, skillZip } from '../../../test/harness/skills.js';
import { type ZipEntry, zipOf } from '../../../test/harness/zips.js';
import { SkillError } from '../../engine/skills/skill-file.js';
import { filesOf, MAX_BYTES, readSkillZip } from './skill-zip.js';

const MAIN: ZipEntry = { name: 'SKILL.md', content: skillFile('notes') };
const withMain = (...entries: ZipEntry[]) => zipOf([MAIN, ...entries]);
const unpacked = async (zip: Buffer) => {
  const found: [string, boolean, string][] = [];
  for await (const { path, executable, content } of filesOf(zip)) {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    found.push([path, executable, Buffer.concat(chunks).toString()]);
  }
  return found;
};

describe('The zip of a skill (reference §27)', () => {
  it('has SKILL.md at its root, or in its one folder', async () => {
    const script = { name: 'scripts/run.sh', content: 'echo ran', mode: 0o100755 };
    const expected = { name: 'notes', description: 'How to do notes.', files: 2, bytes: skillFile('notes').length + 8 };
    expect(await readSkillZip(withMain(script))).toEqual(expected);
    const below = [MAIN, script].map((one) => ({ ...one, name: `notes/${one.name}` }));
    const zip = zipOf([{ name: 'notes/', mode: 0o040755, stored: true }, ...below]);
    expect(await readSkillZip(zip)).toEqual(expected);
    expect(await unpacked(zip)).toEqual([
      ['SKILL.md', false, skillFile('notes')],
      ['scripts/run.sh', true, 'echo ran'],
    ]);
  });

  it('may be stored, made on another system, and have what the Finder adds', async () => {
    const added = [
      { name: '__MACOSX/._SKILL.md', content: 'x' },
      { name: 'docs/.DS_Store', content: 'x' },
    ];
    expect(await readSkillZip(zipOf([{ ...MAIN, stored: true, mode: 0 }, ...added]))).toMatchObject({ files: 1 });
  });

  it.each<[string, () => Buffer, string]>([
    ['what is no zip', () => Buffer.from('hello'), 'the zip cannot be read'],
    ['half a zip', () => skillZip('notes').subarray(0, 100), 'the zip cannot be read'],
    ['an empty one', () => zipOf([]), 'there is no SKILL.md'],
    ['no SKILL.md', () => zipOf([{ name: 'README.md', content: 'x' }]), 'there is no SKILL.md'],
    ['a SKILL.md two folders down', () => zipOf([{ name: 'a/b/SKILL.md', content: 'x' }]), 'there is no SKILL.md'],
    [
      'two folders',
      () => zipOf([{ name: 'notes/SKILL.md', content: skillFile('notes') }, { name: 'b/x' }]),
      'there is no SKILL.md',
    ],
    [
      'a folder of another name',
      () => zipOf([{ name: 'other/SKILL.md', content: skillFile('notes') }]),
      'SKILL.md: its folder is called other and the skill notes',
    ],
    [
      'a fault in SKILL.md',
      () => zipOf([{ name: 'SKILL.md', content: '---\nname: X\ndescription: b\n---\n' }]),
      'SKILL.md, line 2: name has to be',
    ],
    [
      'a link',
      () => withMain({ name: 'link', content: '/etc/passwd', mode: 0o120777 }),
      'link: a skill has files and folders alone',
    ],
    ['a device', () => withMain({ name: 'dev', mode: 0o020666 }), 'dev: a skill has files and folders alone'],
    [
      'a folder that says that it is a file',
      () => withMain({ name: 'a/', mode: 0o100644, stored: true }),
      'a/: a skill has files and folders alone',
    ],
    ['a path that leads out', () => withMain({ name: '../x' }), 'the zip cannot be read: invalid relative path: ../x'],
    ['one in the middle', () => withMain({ name: 'a/../../x' }), 'invalid relative path'],
    ['an absolute path', () => withMain({ name: '/etc/x' }), 'absolute path: /etc/x'],
    ['a drive', () => withMain({ name: 'C:/x' }), 'absolute path'],
    ['a backslash', () => withMain({ name: 'a\\x' }), 'invalid characters in fileName'],
    ['a dot', () => withMain({ name: 'a/./x' }), 'a/./x: a path has to lie in the skill'],
    ['two slashes', () => withMain({ name: 'a//x' }), 'a//x: a path has to lie in the skill'],
    ['a line break in a name', () => withMain({ name: 'a\nb' }), 'a name of the zip has characters that are none'],
    ['a name of 256 bytes', () => withMain({ name: 'é'.repeat(128) }), 'a name has at most 255 bytes'],
    ['a path of 1,025 bytes', () => withMain({ name: `${'a'.repeat(100)}/`.repeat(11) + 'x' }), 'a path 1024'],
    [
      'one name twice',
      () => withMain({ name: 'x', content: '1' }, { name: 'x', content: '2' }),
      'x: there is a second x',
    ],
    ['two by their case', () => withMain({ name: 'x' }, { name: 'X' }), 'X: there is a second x'],
    ['two folders by their case', () => withMain({ name: 'a/x' }, { name: 'A/y' }), 'A: there is a second a'],
    ['two by their accents', () => withMain({ name: 'e\u0301' }, { name: '\u00e9' }), 'there is a second'],
    ['a file that is a folder too', () => withMain({ name: 'a' }, { name: 'a/x' }), 'a: there is a second a'],
    ['an encrypted one', () => withMain({ name: 'x', flags: 0x801 }), 'x: it is encrypted'],
    ['another compression', () => withMain({ name: 'x', method: 12 }), 'x: it is compressed in a way'],
    [
      '501 files',
      () => withMain(...Array.from({ length: 500 }, (_, n) => ({ name: `f${n}` }))),
      'a skill has at most 500 files',
    ],
    ['more entries than it may say', () => zipOf([MAIN], 60_000), 'a skill has at most 500 files'],
    ['fewer entries than it says', () => zipOf([MAIN], 3), 'the zip cannot be read'],
    [
      '31 MiB',
      () => withMain({ name: 'big', content: Buffer.alloc(MAX_BYTES + 1) }),
      'big: a skill has at most 31457280 bytes',
    ],
    [
      '31 MiB that say that they are few',
      () => withMain({ name: 'big', content: Buffer.alloc(MAX_BYTES + 1), size: 10 }),
      'big: ',
    ],
    [
      'two that are too large together',
      () => withMain(...['a', 'b'].map((name) => ({ name, content: Buffer.alloc(MAX_BYTES / 2 + 1) }))),
      'b: a skill has at most',
    ],
    ['fewer bytes than it says', () => withMain({ name: 'x', content: 'abc', size: 5 }), 'x: the zip cannot be read'],
    [
      'what is no deflate',
      () => withMain({ name: 'x', content: 'abc', stored: true, method: 8 }),
      'x: the zip cannot be read',
    ],
  ])('%s is refused, with the file', async (_, zip, message) => {
    // prettier-ignore
    const reading = readSkillZip(zip());
    await expect(reading).rejects.toThrow(SkillError);
    await expect(reading).rejects.toThrow(message);
  });

  it('a small zip of very much is given up at the limit, and never held whole', async () => {
    // 1,000 : 1, ten times over by one entry in another: what is counted is what comes out.
    const bomb = deflateRawSync(Buffer.alloc(100 * 1024 * 1024));
    const zip = withMain({ name: 'bomb', content: bomb, stored: true, method: 8, size: 10 });
    const before = process.memoryUsage().arrayBuffers;
    await expect(readSkillZip(zip)).rejects.toThrow('bomb: ');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  });
});
