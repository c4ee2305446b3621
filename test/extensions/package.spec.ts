// The package by its name, as it is built: in a process of Node, and by the compiler.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { slowIt } from '../harness/slow.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('The package millwright', () => {
  // Inside of the checkout: a package may import itself by its name.
  let folder: string;
  beforeAll(() => {
    mkdirSync(join(ROOT, '.setup'), { recursive: true });
    folder = mkdtempSync(join(ROOT, '.setup', 'package-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is imported by its name: everything of its public surface, and not the composition of the service', async () => {
    const file = join(folder, 'import.mjs');
    writeFileSync(
      file,
      `import 'reflect-metadata';
       const names = Object.keys(await import('millwright'));
       console.log(JSON.stringify(names));`,
    );
    const names = JSON.parse((await run(process.execPath, [file])).stdout) as string[];
    expect(names).toEqual(expect.arrayContaining(['defineExtension', 'Endpoint', 'newId', 'TaskAccess', 'sql']));
    expect(names).not.toContain('composeApp');
  });

  slowIt('has types: a file that uses it compiles, and one that uses it wrongly does not', async () => {
    const compile = async (text: string) => {
      const file = join(folder, 'extension.ts');
      writeFileSync(file, text);
      const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
      const options = '--noEmit --ignoreConfig --strict --skipLibCheck --module nodenext --target es2023 --types node';
      const flags = [...options.split(' '), '--experimentalDecorators', file];
      return run(process.execPath, [tsc, ...flags]).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
    };
    const text = (code: string) => `
      import { ApiError, configSection, defineExtension, errorCode, newId } from 'millwright';
      import { z } from 'zod';
      class Config extends configSection(z.strictObject({ limit: z.int().default(3) })) {}
      const CLOSED = errorCode('crm_closed', 409, 'conflict');
      export const limit = (config: Config): number => config.${code};
      export const refuse = () => new ApiError(CLOSED, newId());
      export const CRM = defineExtension({ name: 'crm', module: class {}, config: Config, errors: [CLOSED] });`;
    expect(await compile(text('limit'))).toBe('');
    expect(await compile(text('limits'))).toContain(`Property 'limits' does not exist on type 'Config'`);
  });
});
