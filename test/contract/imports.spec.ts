import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

// Imports point from a later row to an earlier one, or within a row, and nowhere in a circle.
const ROWS = [
  ['config', 'database', 'plugins', 'metrics', 'http'],
  ['auth', 'workspaces'],
  ['rate-limit', 'idempotency'],
  ['signals', 'models', 'sandbox', 'agent'],
  ['projects', 'files', 'tasks', 'automations', 'integrations', 'billing'],
  ['execution'],
  ['health'],
];
const rank = (folder: string) => ROWS.findIndex((row) => row.includes(folder));

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
);
const importsOf = (file: string): string[] =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(/(?:from|import) '(\.[^']+)\.js'/g)].map(([, path]) =>
    relative(SRC, join(SRC, dirname(file), `${path}.ts`)),
  );
const edges = new Map(files.map((file) => [file, importsOf(file)]));
const folderOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '');

/** Follows the imports down from a file; throws at the first way back to a file that it came through. */
function assertNoCycle(file: string, path: string[], done: Set<string>): void {
  if (path.includes(file)) throw new Error(`Import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
  if (done.has(file)) return;
  for (const next of edges.get(file) ?? []) assertNoCycle(next, [...path, file], done);
  done.add(file);
}

describe('Imports inside src', () => {
  it('are understood: every one leads to a file', () => {
    const missing = [...edges.values()].flat().filter((target) => !edges.has(target));
    expect(missing).toEqual([]);
    expect(edges.size).toBeGreaterThan(100);
  });

  it('every folder has its row', () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => folder !== '' && rank(folder) < 0)).toEqual([]);
  });

  it('point one way', () => {
    const wrong = [...edges].flatMap(([file, targets]) =>
      targets
        .filter(
          (target) =>
            folderOf(file) !== '' && (folderOf(target) === '' || rank(folderOf(target)) > rank(folderOf(file))),
        )
        .map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have no cycle', () => {
    const done = new Set<string>();
    for (const file of files) assertNoCycle(file, [], done);
  });
});
