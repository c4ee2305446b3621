import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../../src/operator/migrations/index.js';
import { createDatabase } from '../harness/database.js';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const MADE = /CREATE (?:OR REPLACE )?FUNCTION (\w+)\(/g;

/** What a migration asks of the database. */
async function textOf(Migration: (typeof MIGRATIONS)[number]): Promise<string> {
  const texts: string[] = [];
  await new Migration().up({ query: (text: string) => Promise.resolve(texts.push(text)) } as unknown as QueryRunner);
  return texts.join('\n');
}

const homeFiles = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.function.ts'));

/** The functions and triggers that the files `*.function.ts` export, by the names of the constants. A file may export pieces of them, too. */
async function homes(): Promise<[name: string, text: string][]> {
  const all = await Promise.all(homeFiles().map((file) => import(join(SRC, file)) as Promise<Record<string, string>>));
  return all.flatMap((one) => Object.entries(one).filter(([, text]) => text.startsWith('\nCREATE OR REPLACE '))).sort();
}
const madeBy = (text: string): string[] => [...text.matchAll(MADE)].map(([, name = '']) => name);

// Each function of the database has one text, in a file beside its feature, and migrations take it from there (docs/decisions/0076).
describe('The functions of the database', () => {
  it('each have a home, and every home is of one', async () => {
    const db = await createDatabase();
    try {
      const rows = await db.query<{ name: string }>(
        `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
      );
      const texts = (await homes()).map(([, text]) => text);
      expect(rows.map(({ name }) => name).sort()).toEqual(texts.flatMap(madeBy).sort());
    } finally {
      await db.drop();
    }
  });

  it('stand in docs/architecture.md with their files', async () => {
    const page = readFileSync(join(SRC, '../docs/architecture.md'), 'utf8');
    const files = homeFiles().map((file) => file.replace('.function.ts', ''));
    const functions = (await homes()).flatMap(([, text]) => madeBy(text)).map((name) => `\`${name}\``);
    expect([...files, ...functions].filter((name) => !page.includes(name))).toEqual([]);
  });

  // A text that changes comes to the databases that there are by a new migration, which takes it again: with the digest the name of the
  // migration changes. Where the digest alone does, new databases differ from old ones.
  it('are as these migrations have taken them last', async () => {
    const texts = await homes();
    const takenBy = new Map<string, string>();
    for (const Migration of MIGRATIONS) {
      let rest = await textOf(Migration);
      for (const [name, text] of texts) {
        if (!rest.includes(text)) continue;
        takenBy.set(name, Migration.name);
        rest = rest.replace(text, '');
      }
      expect([Migration.name, madeBy(rest)]).toEqual([Migration.name, []]);
    }
    const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
    const lines = texts.map(([name, text]) => `${name} ${digest(text)} by ${takenBy.get(name) ?? 'nobody'}`);
    expect(lines.join('\n')).toMatchSnapshot();
  });
});
