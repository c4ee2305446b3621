// npm run test:processes starts the built service as an operator does, kills and stops it, and has much work done at once.
// npm run test:faults kills, freezes and restarts what the service runs on, and checks the history afterwards.
// npm run test:machines has tasks worked on by machines with disks of their own.
// npm run test:automations lets automations fire: over clock changes, many at once, and by forged events.
// npm run test:secrets tries from inside of sandboxes to get the value of a secret, or to have it sent elsewhere. MILLWRIGHT_SEED repeats a run.
// npm run test:proof has agents lie about what they have done, and kills workers while checks run. MILLWRIGHT_SEED repeats a run.
// npm run test:console walks through the web console in a real browser, as a person would.
// npm run test:python tries the Python client on the built service, with Debian's packages: packages/python/README.md.
// npm run test:payment has people pay at a server that answers as Stripe does, loses and doubles its events, and kills workers. MILLWRIGHT_SEED repeats a run.
// npm run test:sign-in has people sign in by a provider, in a real browser, and providers lie.
// npm run test:fuzz sends generated requests. `-- --long` is the form before a release, MILLWRIGHT_SEED=N makes a run again.
// Other arguments go to Jest: npm run test:faults -- takeover.
import { main, prepare } from './setup.mjs';
import { jest } from './jest.mjs';

await main(async () => {
  await prepare();
  const [suite, ...words] = process.argv.slice(2);
  const others = words.filter((word) => word !== '--long');
  const more = others.length < words.length ? { MILLWRIGHT_LONG: '1' } : {};
  // Last: `--selectProjects` takes every word that follows it for one more project.
  process.exitCode = await jest(['--config=jest.long.config.mjs', ...others, `--selectProjects=${suite}`], more);
});
