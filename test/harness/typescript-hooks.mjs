// Lets plain Node run the TypeScript of this repository: `node --import ./test/harness/typescript-hooks.mjs x.ts`. For
// tests that need a process of their own, which they stop or kill.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

if (globalThis.typescriptHooks === undefined) {
  globalThis.typescriptHooks = true;
  register(import.meta.url);
}

export async function resolve(specifier, context, next) {
  const ours = context.parentURL?.endsWith('.ts') && specifier.startsWith('.');
  return next(ours ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(new URL(url), 'utf8'), {
    filename: fileURLToPath(url),
    configFile: false,
    swcrc: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
