import { allows } from './repository-access.js';

describe('Patterns of paths and of branches (reference §15)', () => {
  it.each([
    ['acme/api', 'acme/api', true],
    ['acme/api', 'acme/api2', false],
    ['acme/*', 'acme/api', true],
    ['acme/*', 'acme/', true],
    ['acme/*', 'acme/a/b', false],
    ['acme/**', 'acme/a/b', true],
    ['acme/***', 'acme/a/b', true],
    ['*', 'a/b', false],
    ['**', 'a/b', true],
    ['**', '', true],
    ['', '', true],
    ['*-api', 'my-api', true],
    ['*-*-api', 'my-own-api', true],
    ['*-*-api', 'my-api', false],
    ['**/*.x', 'a/b/c.x', true],
    ['**/*.x', 'a.x/b', false],
    ['*a**b*', 'xa/y/bz', true],
    ['*a**b*', 'xa/y/b/z', false],
    ['**', 'a'.repeat(512), true],
    ['**', 'a'.repeat(513), false],
  ])('%s is the pattern of %s: %s', (pattern, path, expected) => {
    expect(allows([pattern], path)).toBe(expected);
  });

  it('of many stars take no more steps than their characters times those of the path', () => {
    const patterns = Array.from({ length: 10 }, (_, n) => `${'*a'.repeat(99)}${n}`);
    expect(allows(patterns, 'a'.repeat(512))).toBe(false);
    expect(allows(patterns, `${'a'.repeat(510)}7`)).toBe(true);
  });
});
