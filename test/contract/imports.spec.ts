import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

// platform ← access, engine ← resources ← work ← surfaces ← operator: a layer and what it may import (house rule of
// docs/architecture.md). The files beside the layers put a process together: no layer imports them.
const LAYERS: Record<string, readonly string[]> = {
  platform: [],
  access: ['platform'],
  engine: ['platform'],
  resources: ['platform', 'access', 'engine'],
  work: ['platform', 'access', 'engine', 'resources'],
  surfaces: ['platform', 'access', 'engine', 'resources', 'work'],
  operator: ['platform', 'access', 'engine', 'resources', 'work', 'surfaces'],
  // An enterprise team's own folder: by path it has nothing of ours, it imports from 'millwright'.
  extensions: [],
};
const mayImport = (from: string, to: string): boolean =>
  from === '' || from === to || (LAYERS[from]?.includes(to) ?? false);

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
);
const importsOf = (file: string): string[] =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(/(?:from |import |import\()'(\.[^']+)\.js'/g)].map(([, path]) =>
    relative(SRC, join(SRC, dirname(file), `${path}.ts`)),
  );
const edges = new Map(files.map((file) => [file, importsOf(file)]));
const layerOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '');

/** Follows the imports down from each file; throws at the first way back to a file that it came through. */
function assertNoCycle(imports: ReadonlyMap<string, readonly string[]>): void {
  const done = new Set<string>();
  const follow = (file: string, path: string[]): void => {
    if (path.includes(file)) throw new Error(`Import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) follow(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) follow(file, []);
}

describe('Imports inside src', () => {
  it('are understood: every one leads to a file', () => {
    const missing = [...edges.values()].flat().filter((target) => !edges.has(target));
    expect(missing).toEqual([]);
    expect(edges.size).toBeGreaterThan(100);
  });

  it('every folder of the first level is a layer', () => {
    expect([...new Set(files.map(layerOf))].filter((layer) => layer !== '' && LAYERS[layer] === undefined)).toEqual([]);
  });

  it('never lead from a layer to one above or beside it', () => {
    const wrong = [...edges].flatMap(([file, targets]) =>
      targets.filter((target) => !mayImport(layerOf(file), layerOf(target))).map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('lead to the list of extensions from the two compositions alone, and from the public surface to neither', () => {
    const importers = (target: string) => files.filter((file) => edges.get(file)?.includes(target) === true).sort();
    expect(importers('extensions.ts')).toEqual(['app.module.ts', 'operator-command.ts']);
    const reached = new Set<string>();
    const follow = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const next of edges.get(file) ?? []) follow(next);
    };
    follow('index.ts');
    expect([...reached].filter((file) => layerOf(file) === '')).toEqual(['index.ts']);
    expect(importers('index.ts')).toEqual([]);
  });

  it('lead to the command of clients from cli.ts alone, and never to another package of this repository', () => {
    const named = (file: string) => /['"]@millwright\/|packages\//.test(readFileSync(join(SRC, file), 'utf8'));
    expect(files.filter(named)).toEqual(['cli.ts']);
  });

  it('have no cycle', () => assertNoCycle(edges));
});

describe('Imports of the packages', () => {
  const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));
  // Each may stand alone: nothing of the service, and no package that its package.json does not name.
  const MAY: Record<string, RegExp> = {
    sdk: /^(\.\/|eventsource-parser\/stream$)/,
    cli: /^(\.\/|node:|@millwright\/sdk(\/node)?$)/,
  };

  it.each(Object.entries(MAY))('%s takes what it may', (name, may) => {
    const sources = readdirSync(join(PACKAGES, name, 'src')).filter((file) => !file.endsWith('.spec.ts'));
    const wrong = sources.flatMap((file) =>
      [...readFileSync(join(PACKAGES, name, 'src', file), 'utf8').matchAll(/\b(?:from |import |import\()'([^']+)'/g)]
        .filter(([, target = '']) => !may.test(target) && !(file === 'node.ts' && target.startsWith('node:')))
        .map(([, target]) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('Imports of the console', () => {
  const CONSOLE = fileURLToPath(new URL('../../console', import.meta.url));
  const sources = readdirSync(join(CONSOLE, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const read = (name: string): string => readFileSync(join(CONSOLE, 'src', name), 'utf8');

  it('lead to the SDK, to packages that its package.json names, and to nothing of the service', () => {
    const { devDependencies, ...others } = JSON.parse(readFileSync(join(CONSOLE, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
      dependencies?: unknown;
    };
    // `npm ci --omit=dev` is to install none of them.
    expect(others.dependencies).toBeUndefined();
    const named = [...Object.keys(devDependencies), '@millwright/sdk'];
    const may = (file: string, target: string): boolean =>
      target.startsWith('.')
        ? !relative(join(CONSOLE, 'src'), join(CONSOLE, 'src', dirname(file), target)).startsWith('..')
        : named.some((name) => target === name || target.startsWith(`${name}/`));
    const wrong = sources.flatMap((file) =>
      [...read(file).matchAll(/\b(?:from |import |import\()'([^']+)'/g)]
        .filter(([, target = '']) => !may(file, target))
        .map(([, target]) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
    expect(sources.length).toBeGreaterThan(30);
  });

  it('have no cycle', () => {
    const imported = (file: string): string[] =>
      [...read(file).matchAll(/\b(?:from |import |import\()'(\.[^']+\.tsx?)'/g)].map(([, target = '']) =>
        join(dirname(file), target),
      );
    const imports = new Map(sources.map((file) => [file, imported(file)]));
    expect([...imports.values()].flat().filter((target) => !imports.has(target))).toEqual([]);
    assertNoCycle(imports);
  });

  it('lead to style files whose names are their own, because classes are told apart by them', () => {
    const all = readdirSync(join(CONSOLE, 'src'), { recursive: true, encoding: 'utf8' });
    const names = all.filter((name) => name.endsWith('.module.css')).map((name) => basename(name));
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('leave asking the service to src/api, and setting HTML to nobody', () => {
    const asking = /\bfetch\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon/;
    expect(sources.filter((file) => asking.test(read(file)) && !file.startsWith('api/'))).toEqual([]);
    const html =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment/;
    expect(sources.filter((file) => html.test(read(file)))).toEqual([]);
  });
});
