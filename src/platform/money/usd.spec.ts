import fc from 'fast-check';
import { hasMicros, microsOf, usd } from './usd.js';

describe('US dollars', () => {
  it.each([
    ['0.000001', 1, '0.000001'],
    ['0.0123', 12_300, '0.0123'],
    ['0.5', 500_000, '0.50'],
    ['12.5', 12_500_000, '12.50'],
    ['12.50', 12_500_000, '12.50'],
    ['7', 7_000_000, '7.00'],
    ['100', 100_000_000, '100.00'],
    ['0', 0, '0.00'],
    ['999999999.999999', 999_999_999_999_999, '999999999.999999'],
  ])('%s are %d micro-dollars, written %s', (text, micros, written) => {
    expect(microsOf(text)).toBe(micros);
    expect(usd(micros)).toBe(written);
  });

  it('come back from text as they were', () => {
    fc.assert(fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (micros) => expect(microsOf(usd(micros))).toBe(micros)));
  });

  it.each([
    [0.3, true],
    [12, true],
    [1e-6, true],
    [0.0000015, false],
    [1e-7, false],
    [0.1234567, false],
    [1e21, false],
    [-1, false],
  ])('%d of a configuration has at most six decimals: %s', (amount, yes) => {
    expect(hasMicros(amount)).toBe(yes);
  });
});
