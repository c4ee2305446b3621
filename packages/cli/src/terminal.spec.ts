import { plain, short } from './terminal.js';

describe('Text that is printed for people', () => {
  it('has no character that steers a terminal, turns a line round or is invisible, but what words are written with', () => {
    const kept = /[\n\t\u200c\u200d]|\p{Variation_Selector}/u;
    const hidden = /\p{Cc}|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}|[\u{e0000}-\u{e007f}]/u;
    const wrong: string[] = [];
    for (let code = 0; code < 0x110000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      const stays = kept.test(character) || !hidden.test(character);
      const seen = plain(`a${character}b`) === `a${character}b`;
      // What has no meaning yet may go.
      if (stays !== seen && !(stays && /\p{Cf}|\p{Cn}/u.test(character))) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('shows what is written the other way round in the order of its characters', () => {
    expect(plain('rm \u202e-rf\u2066 x\u200b\n\tگزارش می‌خواهم 👩‍💻 ❤️')).toBe('rm -rf x\n\tگزارش می‌خواهم 👩‍💻 ❤️');
    expect(short({ command: 'a\u202eb' })).toBe('{"command":"ab"}');
  });
});
