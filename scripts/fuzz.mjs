// npm run test:fuzz: generated requests, 20,000 of them or 200,000 with --long. MILLWRIGHT_SEED=N makes a run again,
// MILLWRIGHT_FUZZ_REQUESTS=N sends another number. Other arguments go to Jest.
const LONG = '200000';

if (process.argv.includes('--long')) process.env.MILLWRIGHT_FUZZ_REQUESTS = LONG;
const rest = process.argv.slice(2).filter((argument) => argument !== '--long');
process.argv.splice(2, Infinity, ...rest, '--selectProjects=fuzz');
await import('./test.mjs');
