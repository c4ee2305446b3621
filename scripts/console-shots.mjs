// npm run console:shots -- [FOLDER]: pictures of every page of the console, in both themes, on a desk and on a phone. The walk that
// looks for violations goes everywhere; it makes them on its way.
import { resolve } from 'node:path';
import { jest } from './jest.mjs';
import { main, prepare } from './setup.mjs';

await main(async () => {
  await prepare();
  const [folder = 'console-shots'] = process.argv.slice(2);
  const walk = 'test/console/accessibility';
  const words = ['--config=jest.long.config.mjs', walk, '--selectProjects=console'];
  process.exitCode = await jest(words, { CONSOLE_SHOTS: resolve(folder) });
  console.log(`The pictures lie in ${resolve(folder)}.`);
});
