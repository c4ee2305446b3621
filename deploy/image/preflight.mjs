// Before a worker starts: prints what `doctor` says, and ends with 1 where no sandbox works. What else is wrong the boot says,
// or it passes: a database that is away, a model that does not answer.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const { stdout, stderr, status } = spawnSync(process.execPath, [cli, 'doctor', '--no-models', '--json'], {
  encoding: 'utf8',
});
let told = {};
try {
  told = JSON.parse(stdout);
} catch {
  // It broke before it could say anything.
}
const { checks, error } = told;
// A setting that is wrong: the boot would say the same.
if (checks === undefined) {
  console.error(error?.message ?? `doctor ended with ${status}:\n${stdout}${stderr}`);
  process.exit(1);
}
for (const { name, status, detail, advice } of checks) console.log([`${status} ${name}: ${detail}`, advice ?? ''].join(' ').trim()); // prettier-ignore
// Of several sandboxes one that works will do: `doctor` calls it a failure only when none does.
process.exit(checks.some(({ name, status }) => name.startsWith('sandbox') && status === 'fail') ? 1 : 0);
