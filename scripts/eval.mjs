// npm run eval [-- NAME…] [--json] [--manner M] [--model ID | --agent SLUG@VERSION | --agent FILE | --engines | --peers]: has repairs made and judges them by checks that the agent never sees.
// Without --model and --agent a player by rules stands in the place of a model, once clean and once sloppy. See eval/README.md.
import { parseArgs } from 'node:util';
import { SetupError, loadDotEnv, main, prepare } from './setup.mjs';

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      engines: { type: 'boolean', default: false },
      model: { type: 'string' },
      agent: { type: 'string', multiple: true, default: [] },
      manner: { type: 'string', multiple: true, default: ['clean', 'sloppy'] },
    },
  });
  const wrong = values.manner.find((manner) => !['clean', 'sloppy'].includes(manner));
  if (wrong !== undefined) throw new SetupError(`--manner is clean or sloppy, not ${wrong}.`);
  const asks = values.model !== undefined || values.agent.length > 0;
  if (values.peers && asks) throw new SetupError('--peers are played; they have no --model and no --agent.');
  if (values.engines && asks)
    throw new SetupError('--engines are played: name a model of an engine by --model to have it asked.');
  await prepare();
  if (asks) loadDotEnv();
  // Not before: it imports packages and the build, and in a fresh clone there were none when this program began.
  const { evaluate } = await import('../eval/evaluate.mjs');
  process.exitCode = (await evaluate({ ...values, names: positionals })) ? 0 : 1;
});
