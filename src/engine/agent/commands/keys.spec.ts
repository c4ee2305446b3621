import { isKey, KEYS, typed } from './keys.js';

describe('Keys of a terminal (reference §27.2)', () => {
  it.each([
    ['enter', '\r'],
    ['Enter', '\r'],
    ['tab', '\t'],
    ['esc', '\x1b'],
    ['backspace', '\x7f'],
    ['up', '\x1b[A'],
    ['delete', '\x1b[3~'],
    ['pagedown', '\x1b[6~'],
    ['ctrl-a', '\x01'],
    ['ctrl-c', '\x03'],
    ['ctrl+d', '\x04'],
    ['CTRL-Z', '\x1a'],
  ])('%s sends %j', (name, bytes) => {
    expect([isKey(name), typed([name])]).toEqual([true, bytes]);
  });

  it.each(['', 'hyper-x', 'ctrl-', 'ctrl-1', 'ctrl-cc', 'a', 'constructor', 'toString', '__proto__'])(
    'there is no key %j',
    (name) => {
      expect(isKey(name)).toBe(false);
    },
  );

  it('several are sent one after another, and each that is told to the model is one', () => {
    expect(typed(['down', 'down', 'enter'])).toBe('\x1b[B\x1b[B\r');
    for (const name of KEYS.split(' ').slice(0, -1)) expect(isKey(name)).toBe(true);
  });
});
