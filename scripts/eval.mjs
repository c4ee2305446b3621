// npm run eval [-- NAME…] [--json] [--manner M] [--model ID | --peers]: has repairs made and judges them by checks that the agent never sees.
// Without --model a player by rules stands in the place of a model, once clean and once sloppy. See eval/README.md.
import { parseArgs } from 'node:util';
import { SetupError, loadDotEnv, main, prepare } from './setup.mjs';

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      model: { type: 'string' },
      manner: { type: 'string', multiple: true, default: ['clean', 'sloppy'] },
    },
  });
  const wrong = values.manner.find((manner) => !['clean', 'sloppy'].includes(manner));
  if (wrong !== undefined) throw new SetupError(`--manner is clean or sloppy, not ${wrong}.`);
  if (values.peers && values.model !== undefined) throw new SetupError('--peers are played; they have no --model.');
  await prepare();
  if (values.model !== undefined) loadDotEnv();
  // Not before: it imports packages and the build, and in a fresh clone there were none when this program began.
  const { evaluate } = await import('../eval/evaluate.mjs');
  process.exitCode = (await evaluate({ ...values, names: positionals })) ? 0 : 1;
});
