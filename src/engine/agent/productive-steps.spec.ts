import { edited, type Made, message, moments, ran, read, times, written } from '../../../test/harness/circles.js';

describe('Work that goes on is left alone:', () => {
  const test = (failing: number) =>
    ran('npm test', `Tests: ${failing} failed, 20 total\nTime: ${failing}.2 s\n`, failing > 0 ? 1 : 0);
  const transcripts: Record<string, Made[]> = {
    'a repair, with the tests after each change': [
      ran('ls', 'package.json\nsrc\n'),
      read('src/a.ts', 'const a = 1;'),
      test(3),
      edited('src/a.ts', 'const a = 1;', 'const a = 2;'),
      test(3),
      edited('src/a.ts', 'const a = 2;', 'const a = b();'),
      test(2),
      edited('src/b.ts', 'return 1', 'return 3'),
      test(2),
      edited('src/b.ts', 'return 3', 'return 4'),
      test(0),
    ],
    'the same tests three times, with another result': [
      ran('npm test', 'FAIL a\n', 1),
      ran('npm test', 'FAIL b\n', 0),
      ran('npm test', 'ok\n'),
      ran('npm test', 'ok, all\n'),
    ],
    'a long file, page by page': Array.from({ length: 30 }, (_, n) =>
      read('big.log', `     ${n * 2000}\tline about ${'abcdefghij'[n % 10]}${'klm'[n % 3]}`, { offset: n * 2000 + 1 }),
    ),
    'numbered files that are made one by one': Array.from({ length: 10 }, (_, n) =>
      written(`fixtures/${n}.json`, `{"id": ${n}}`),
    ),
    'numbered files that are renamed one by one': Array.from({ length: 11 }, (_, n) =>
      ran(`git mv chapter${n}.md ${n}.md`),
    ),
    'one file after another': Array.from({ length: 30 }, (_, n) =>
      read(`src/${'abcdefghijklmnopqrstuvwxyzäöüß'[n]}.ts`, `export const x${'y'.repeat(n)} = 1;`),
    ),
    'an edit of each of many files': Array.from({ length: 30 }, (_, n) =>
      edited(`src/${'f'.repeat(n + 1)}.ts`, 'old', 'new'),
    ),
    'a hunt for a place, most searches in vain': Array.from({ length: 24 }, (_, n) =>
      n % 3 === 2
        ? read(`src/m${'o'.repeat(n)}.ts`, 'x'.repeat(n))
        : ran(`grep -rn ${'needle'.slice(0, 1 + (n % 6))}${'s'.repeat(n)} src`, '', 1),
    ),
    'a plan that is kept up to date beside the work': Array.from({ length: 24 }, (_, n): Made =>
      n % 2 === 0
        ? [
            'todo',
            { items: [{ text: `Step ${'i'.repeat(n)}`, status: 'done' }] },
            { status: 'success', output: { items: 1, left: 0 } },
          ]
        : edited('src/a.ts', 'a'.repeat(n), 'b'.repeat(n)),
    ),
    'tests, a change of one word, the tests again': Array.from({ length: 24 }, (_, n) =>
      n % 2 === 0
        ? ran('npm test', 'FAIL src/a.spec.ts\n', 1)
        : edited('src/a.ts', `colour${'u'.repeat(n)}`, `color${'u'.repeat(n)}`),
    ),
    'a search by halves': Array.from({ length: 10 }, (_, n) =>
      ran(
        `git bisect ${n % 3 === 0 ? 'bad' : 'good'}`,
        `Bisecting: ${512 >> n} revisions left\n[${'abcdef'.repeat(n)}] ${'fix '.repeat(n)}\n`,
      ),
    ),
  };

  it.each(Object.entries(transcripts))('%s', (_, steps) => {
    expect(moments(steps.map((made) => message(made)))).toEqual({ hints: [], end: null });
  });

  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => `${from + n},${((from + n) * 7919) % 1000},${(from + n) / 8}\n`).join('');
  const hex = (n: number) => ((n + 1) * 2_654_435_761).toString(16).padStart(9, '0');
  const clock = (n: number) => new Date(1_700_000_000_000 + n * 61_000).toISOString();

  it.each<[string, (n: number) => Made]>([
    [
      'a file of numbers, read page by page',
      (n) => read('data.csv', rows(n * 200, 200), { offset: n * 200 + 1, limit: 200 }),
    ],
    ['a file of numbers, line by line', (n) => read('data.csv', `     ${n}\t${n * 7919}`, { offset: n, limit: 1 })],
    ['a table, page by page with sed', (n) => ran(`sed -n '${n * 50 + 1},${n * 50 + 50}p' data.csv`, rows(n * 50, 50))],
    ['a table, page by page with tail and head', (n) => ran(`tail -n +${n * 10} d | head -n 10`, rows(n * 10, 10))],
    ['pages of a query', (n) => ran(`psql -c 'SELECT * FROM t LIMIT 20 OFFSET ${n * 20}'`, rows(n * 20, 20))],
    ['bytes of a binary file, part by part', (n) => ran(`xxd -s ${n * 64} -l 64 a.bin`, `${rows(n * 4, 4)}`)],
    ['numbered logs, one after another', (n) => read(`logs/${n}.log`, `     1\t${clock(n)} 200 ${n * 31}`)],
    [
      'searches for one number after another',
      (n) => ['grep', { pattern: `id=${n}` }, { status: 'success', output: `a.log:${n * 17}:id=${n}` }],
    ],
    [
      'numbered tickets that another service makes',
      (n) => ['tickets_create', { title: `Batch ${n}` }, { status: 'success', output: { id: 4_000 + n } }],
    ],
  ])('%s', (_, make) => {
    expect(moments(times(40, make))).toEqual({ hints: [], end: null });
  });

  it.each<[string, (n: number) => Made | Made[]]>([
    [
      'batches of a migration',
      (n) => ran(`echo "migrated batch ${n} of 40" && echo ${n} >> ledger.txt`, `migrated batch ${n} of 40\n`),
    ],
    [
      'batches that say when they were done',
      (n) => ran(`./migrate ${n}`, `${clock(n)} batch ${n} ${hex(n)} 12.${n} s\n`),
    ],
    ['numbered files that are written', (n) => written(`fixtures/${n}.json`, `{"id": ${n}}`)],
    ['numbered files that are moved', (n) => ran(`git mv chapter${n}.md ${n}.md`)],
    ['numbered files that are changed', (n) => edited(`pages/${n}.md`, `Page ${n}`, `Chapter ${n}`)],
    [
      'downloads with a progress bar',
      (n) => ran(`curl -O https://host/part-${n}`, `######### ${n}.0%\r########## 100.0%\n`),
    ],
    ['objects by their hashes', (n) => ran(`git cat-file blob ${hex(n)} > blobs/${n}`)],
    [
      'frames that are rendered',
      (n) => ran(`render --frame ${n} --out f${n}.png`, `frame ${n} took ${n * 3}.${n} ms\n`),
    ],
    ['a command that goes on where it was', () => ran('./next-batch', 'done 1\n'.replace('1', String(Math.random())))],
    [
      'a number that is tried, and the file of the results',
      (n) => ran(`./train --seed ${n} >> scores`, `score 0.${n}\n`),
    ],
    [
      'a change of a number and the tests, in turn',
      (n) => (n % 2 === 0 ? edited('a.ts', `= ${n}`, `= ${n + 2}`) : ran('npm test', `${60 - n} failed, ${n} s\n`, 1)),
    ],
    ['two calls in a step', (n) => [ran(`./fetch ${n}`, `${n * 7}\n`), written(`out/${n}`, `${n * 7}`)]],
  ])('%s, while files change', (_, make) => {
    expect(moments(times(40, make), (step) => `state ${step}`)).toEqual({ hints: [], end: null });
    // With the same calls over folders in which nothing happens it would be a circle.
    expect(moments(times(40, make)).end).not.toBeNull();
  });

  it.each<[string, (n: number) => Made]>([
    [
      'a build elsewhere that moves on',
      (n) => ran('./status', `${['queued', 'compile', 'link', 'test'][Math.floor(n / 10)]} ${n * 2}%, ${clock(n)}\n`),
    ],
    [
      'tests that are tried again, with fewer failures',
      (n) => ran('npm test', `${40 - n} failed, ${n}.2 s\n`, n < 10 ? 1 : 0),
    ],
  ])('%s', (_, make) => {
    expect(moments(times(14, make))).toEqual({ hints: [], end: null });
  });

  it('a change long after the beginning is enough to begin anew', () => {
    const steps = times(40, (n) => ran(`./poll ${n}`, `${n}\n`));
    expect(moments(steps, (step) => (step < 20 ? 'before' : 'behind')).end).toBeNull();
  });
});
