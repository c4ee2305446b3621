// The example of docs/extending.md is files that are compiled and run; it and docs/seams.md link to files that are there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('reviews/', import.meta.url));
const read = (page: string) => readFileSync(join(DOCS, page), 'utf8');

/** Each block of TypeScript with the file that stands above it. */
const blocks = [...read('extending.md').matchAll(/(?:\*\*`([^`]+)`\*\*\n\n)?```ts\n([^]*?)```/g)].map(
  ([, path = '', code = '']) => ({ path, code: code.trimEnd() }),
);

describe('docs/extending.md', () => {
  it.each(blocks.map(({ path, code }) => [path, code]))('%s says what the file says', (path, code) => {
    expect(path).not.toBe('');
    expect(code).toBe(readFileSync(join(EXAMPLE, path), 'utf8').trimEnd());
  });

  it('holds every file of the example', () => {
    const files = readdirSync(EXAMPLE);
    expect(files.length).toBeGreaterThan(5);
    expect(blocks.map(({ path }) => path).sort()).toEqual(files.sort());
  });

  it.each(['extending.md', 'seams.md'])('and its links: those of %s lead somewhere', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#]*)(?:#([^)]+))?\)/g)];
    expect(links.length).toBeGreaterThan(5);
    for (const [link, path, anchor] of links) {
      expect([link, existsSync(join(DOCS, path || page))]).toEqual([link, true]);
      const headings = anchor === undefined ? [] : [...read(path || page).matchAll(/^#+ (.*)$/gm)];
      const anchors = headings.map(([, heading = '']) => heading.toLowerCase().replace(/ /g, '-').replace(/,/g, ''));
      if (anchor !== undefined) expect(anchors).toContain(anchor);
    }
  });
});
