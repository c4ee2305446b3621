// Translates src/**/*.ts into build/ and runs what is named *.test there. It stands in the folder that the user hands over.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import typescript from 'typescript';

const compilerOptions = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 };
const sources = readdirSync('src', { recursive: true }).filter((name) => name.endsWith('.ts'));
for (const name of sources) {
  const target = join('build', name.replace(/\.ts$/, '.js'));
  const { outputText } = typescript.transpileModule(readFileSync(join('src', name), 'utf8'), { compilerOptions });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText);
}
for (const name of sources.filter((one) => one.endsWith('.test.ts'))) {
  await import(pathToFileURL(join('build', name.replace(/\.ts$/, '.js'))).href);
  console.log(`${name}: passed`);
}
