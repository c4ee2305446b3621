// npm run --silent cli -- …: the operator command, after installing and building what is missing.
// Standard output carries the command's own output and nothing else.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, loadDotEnv, main, prepare } from './setup.mjs';

await main(async () => {
  await prepare();
  loadDotEnv();
  const program = join(ROOT, 'dist', 'cli.js');
  process.argv[1] = program;
  await import(pathToFileURL(program).href);
});
