import { isKey, newKey, prefixOf } from './api-key.js';

describe('keys', () => {
  it('have the documented form and are never the same', () => {
    const keys = Array.from({ length: 500 }, newKey);
    for (const key of keys) {
      expect(key).toMatch(/^mw_pk_[0-9A-Za-z]{49}$/);
      expect(isKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(500);
    expect(newKey('service')).toMatch(/^mw_sk_[0-9A-Za-z]{49}$/);
    expect(isKey(newKey('service'))).toBe(true);
    expect(prefixOf(keys[0] ?? '')).toHaveLength(12);
  });
  it('with one character changed, missing or added are none', () => {
    const key = newKey();
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'a' ? 'b' : 'a';
      expect(isKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
      expect(isKey(key.slice(0, i) + key.slice(i + 1))).toBe(false);
      expect(isKey(key.slice(0, i) + 'x' + key.slice(i))).toBe(false);
    }
    for (const text of ['', 'mw_pk_', ` ${key}`, `${key}\n`, key.replace('_pk_', '_sk_'), key.toUpperCase()]) {
      expect(isKey(text)).toBe(false);
    }
  });
});
