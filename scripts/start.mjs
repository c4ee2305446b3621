// npm start: the service, after installing and building what is missing.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, loadDotEnv, main, prepare } from './setup.mjs';

await main(async () => {
  await prepare();
  loadDotEnv();
  const program = join(ROOT, 'dist', 'main.js');
  // In this process, so that signals and the exit code are the service's own.
  process.argv[1] = program;
  await import(pathToFileURL(program).href);
});
