import { isName, isShown, NAME_PATTERN, shown } from './names.js';

/** Every character but halves of surrogate pairs, which a body cannot hold. */
function characters(where: RegExp): string[] {
  const found: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    const character = code >= 0xd800 && code < 0xe000 ? '' : String.fromCodePoint(code);
    if (where.test(character)) found.push(character);
  }
  return found;
}

describe('names', () => {
  test('hold no character that Unicode calls a control, a direction, a line break or invisible, but joiners and variations', () => {
    const written = /[\u200c\u200d]|\p{Variation_Selector}/u;
    const hidden = characters(
      /\p{Cc}|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}|[\u{e0000}-\u{e007f}]/u,
    );
    const refused = hidden.filter((one) => !written.test(one));
    expect(refused.length).toBeGreaterThan(3_000);
    expect(refused.filter((one) => isShown(`a${one}b`) || isName(`a${one}b`))).toEqual([]);
    expect(shown(`a${refused.join('')}b`)).toBe('ab');
    expect(hidden.filter((one) => written.test(one) && !isName(`a${one}b`))).toEqual([]);
  });

  test.each([
    ['Latin', 'Übersicht v2 (final).md'],
    ['emoji', '👩‍💻 ❤️ 🏳️‍🌈 fix'],
    ['Persian, which needs the non-joiner', 'گزارش می‌خواهم'],
    ['Hebrew', 'דוח שנתי'],
    ['Hindi, with a joiner', 'क्‍ष'],
    ['a variant of a Japanese name', '葛󠄀城'],
  ])('may be %s', (_what, name) => {
    expect([isName(name), isShown(name), shown(name)]).toEqual([true, true, name]);
    expect(new RegExp(NAME_PATTERN, 'u').test(name)).toBe(true);
  });

  test.each([
    ['text that runs backwards', 'invoice\u202Efdp.exe'],
    ['an isolate', 'a\u2066b\u2069'],
    ['a mark of direction', 'a\u200fb'],
    ['a zero-width space', 'pay\u200bpal'],
    ['a word joiner', 'pay\u2060pal'],
    ['a byte order mark', 'pay\ufeffpal'],
    ['a line separator', 'a\u2028b'],
    ['hidden text in tags', 'a\u{e0069}\u{e0067}'],
    ['a soft hyphen', 'pay\u00adpal'],
    ['a letter that is blank', 'a\u3164b'],
    ['a joiner alone', '\u200d'],
    ['a joiner before all', '\u200ca'],
    ['nothing', ''],
  ])('may not be %s', (_what, name) => {
    expect(isName(name)).toBe(false);
    expect(new RegExp(NAME_PATTERN, 'u').test(name)).toBe(false);
  });
});
