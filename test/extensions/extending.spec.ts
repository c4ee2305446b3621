// The examples of docs/extending.md are files that are compiled and run.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const document = readFileSync(join(HERE, '..', '..', 'docs', 'extending.md'), 'utf8');

/** Each block of TypeScript with the file that stands above it, relative to the example's folder. */
const blocks = [...document.matchAll(/(?:\*\*`([^`]+)`\*\*\n\n)?```ts\n([^]*?)```/g)].map(
  ([, path = '', code = '']) => ({
    path,
    code: code.trimEnd(),
  }),
);

describe('docs/extending.md', () => {
  it.each(blocks.map(({ path, code }) => [path, code]))('%s says what the file says', (path, code) => {
    expect(path).not.toBe('');
    const file = readFileSync(join(HERE, 'reviews', path), 'utf8').trimEnd();
    expect(code).toBe(file);
  });

  it('holds every file of the example', () => {
    const files = readdirSync(join(HERE, 'reviews'));
    expect(files.length).toBeGreaterThan(8);
    expect(blocks.map(({ path }) => path).filter((path) => path === basename(path)).sort()).toEqual(files.sort()); // prettier-ignore
  });
});
