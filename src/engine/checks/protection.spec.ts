import { CheckError } from './check.js';
import { protects } from './protection.js';

describe('What a check protects (reference §26)', () => {
  it('is what its patterns match, also of very many paths', async () => {
    const test = Array.from({ length: 2_500 }, (_, n) => `test/${n}.js`);
    const isProtected = protects(['test/**', 'package.json']);
    const found = await isProtected(['src/a.js', ...test, 'sub/package.json', 'new\nline/package.json']);
    expect([...found]).toEqual([...test, 'sub/package.json', 'new\nline/package.json']);
    expect((await protects([])(test)).size).toBe(0);
  });

  it('is not looked for any longer when that takes too long: a name may be made for it, and nobody else is held up', async () => {
    const isProtected = protects(['*a*a*a*a*a*a*b']);
    const began = performance.now();
    await expect(isProtected(['a'.repeat(250)])).rejects.toThrow(CheckError);
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
