import { readHead, SkillError } from './skill-file.js';

const head = (text: string) => readHead(Buffer.from(text));

describe('The front matter of a SKILL.md (reference §27)', () => {
  it('says name and description, in one line, whatever else it says', async () => {
    const text = '---\nname: release-notes\ndescription: >\n  Writes the notes\n  of a release.\nallowed-tools: Bash\nmetadata:\n  a: 1\n---\n# Body'; // prettier-ignore
    expect(await head(text)).toEqual({ name: 'release-notes', description: 'Writes the notes of a release.' });
    expect(await head('---\r\nname: a\r\ndescription: "b: c"\r\n---\r\n')).toEqual({ name: 'a', description: 'b: c' });
    expect(await head('\ufeff---\nname: a\ndescription: b\n---')).toEqual({ name: 'a', description: 'b' });
    expect(await head('---\nname: a\ndescription: b\u202e\u200bc\n---')).toEqual({ name: 'a', description: 'bc' });
  });

  it.each<[string, string, string]>([
    ['no front matter', '# Title\n', 'SKILL.md, line 1: it has to begin with a line ---'],
    ['one that does not end', '---\nname: a\n', 'SKILL.md, line 1: it has to begin'],
    ['one that does not begin the file', 'x\n---\nname: a\ndescription: b\n---\n', 'SKILL.md, line 1: it has to begin'],
    ['one that ends too late', `---\nname: a\n${'#\n'.repeat(9_000)}---\n`, 'within 16384 bytes'],
    [
      'a colon in plain text',
      '---\nname: a\ndescription: Use: this\n---\n',
      'SKILL.md, line 3: the YAML is not well-formed',
    ],
    ['a field twice', '---\nname: a\ndescription: b\nname: c\n---\n', 'SKILL.md, line 4: the YAML is not well-formed'],
    ['a list', '---\n- a\n---\n', 'SKILL.md, line 2: the front matter has to be fields'],
    ['nothing in it', '---\n---\n', 'SKILL.md, line 2: the front matter has to be fields'],
    ['no name', '---\ndescription: b\n---\n', 'SKILL.md, line 1: the field name has to be there'],
    [
      'a name that is a number',
      '---\nname: 1\ndescription: b\n---\n',
      'SKILL.md, line 2: the field name has to be there, and to be text',
    ],
    [
      'a name in capitals',
      '---\n\nname: A\ndescription: b\n---\n',
      'SKILL.md, line 3: name has to be 1 to 64 small letters',
    ],
    ['a name with two hyphens', '---\nname: a--b\ndescription: b\n---\n', 'SKILL.md, line 2: name'],
    ['a name with a hyphen at its end', '---\nname: a-\ndescription: b\n---\n', 'SKILL.md, line 2: name'],
    ['a name of 65 letters', `---\nname: ${'a'.repeat(65)}\ndescription: b\n---\n`, 'SKILL.md, line 2: name'],
    [
      'an empty description',
      '---\nname: a\ndescription: " "\n---\n',
      'SKILL.md, line 3: description has to have 1 to 1024 characters',
    ],
    [
      'a description of 1,025 characters',
      `---\nname: a\ndescription: ${'x'.repeat(1_025)}\n---\n`,
      'line 3: description',
    ],
    ['an alias for a name', '---\nx: &x a\nname: *x\ndescription: b\n---\n', 'SKILL.md, line 1: the field name'],
    ['ten thousand brackets', `---\nname: ${'['.repeat(10_000)}\n---\n`, 'SKILL.md, line'],
  ])('%s is refused, with the line', async (_, text, message) => {
    const refused = await head(text).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SkillError);
    expect((refused as SkillError).message).toContain(message);
  });

  it('is text in UTF-8, of which a part may end in half a character', async () => {
    const broken = Buffer.from('---\nname: a\ndescription: \xff\n---\n', 'latin1');
    await expect(readHead(broken)).rejects.toThrow('SKILL.md: it is not text in UTF-8');
    const text = Buffer.from(`---\nname: a\ndescription: b\n---\n${'é'.repeat(10_000)}`);
    expect(await readHead(text)).toEqual({ name: 'a', description: 'b' });
  });
});
