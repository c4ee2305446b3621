// The whole evaluation: repairs × manners, judged, as a table.
import { ENGINE_ENV, engineConfig, enginePrograms } from '../bench/engine-programs.mjs';
import { table } from '../bench/figures.mjs';
import { SetupError } from '../scripts/setup.mjs';
import { damage, failing, missing } from './checks.mjs';
import { isFile, readDefinition } from './definition.mjs';
import { Millwright } from './millwright.mjs';
import { PlayerServer } from './model-server.mjs';
import { installPeers, peers } from './peers.mjs';
import { play } from './player.mjs';
import { loadRepairs } from './repairs.mjs';
import { MILLWRIGHT, OF_ENGINES } from './tools.mjs';

/** Resolves with whether all that must be solved was: every repair of the clean player on our service, with each engine too, or of the real model. */
export async function evaluate({ names, model, agent: agents = [], peers: withPeers, engines, manner: manners, json }) {
  const repairs = loadRepairs(names);
  const program = missing(repairs);
  if (program !== null) throw new SetupError(`${program} is missing in /usr: name the repairs that do not need it.`);
  const say = json ? () => undefined : (text) => console.log(text);
  const results =
    agents.length > 0
      ? await byAgents(repairs, agents, model, say)
      : model === undefined
        ? await played(repairs, { manners, withPeers, engines, say })
        : {
            [model]: await withService({}, (service) => asked(service, repairs, { model }, `The model ${model}`, say)),
          };
  const sums = Object.entries(results).map(([subject, rows]) => ({ subject, ...sumOf(rows) }));
  say(table('In sum', sums));
  if (json) console.log(JSON.stringify({ at: new Date().toISOString(), node: process.version, results, sums }));
  const isReal = agents.length > 0 || model !== undefined;
  const counts = (subject) => isReal || /^(millwright|engine .*), clean$/.test(subject);
  const counted = Object.entries(results).flatMap(([subject, rows]) => (counts(subject) ? rows : []));
  return counted.every(({ solved }) => solved);
}

/** The player in the place of a model, in each manner: on our service, with our loop and with each of the engines, then on each of the peers. */
async function played(repairs, { manners, withPeers, engines, say }) {
  const server = await PlayerServer.start();
  const player = { id: 'player', provider: 'openai-compatible', model: 'player', baseUrl: server.url, default: true };
  const programs = engines ? await enginePrograms() : [];
  const { models, ...config } = programs.length > 0 ? engineConfig(programs, server.url) : { models: [] };
  try {
    const own = { models: [player, ...models], config, env: ENGINE_ENV };
    const results = await withService(own, async (service) => {
      const on = (name, tools, model) => {
        const subject = { name, tools, place: (repair) => service.place(repair) };
        const make = (repair) => service.make(repair, { model });
        return onSubject({ ...subject, make }, { repairs, manners, server, say });
      };
      const all = await on('millwright', MILLWRIGHT, 'player');
      for (const { name } of programs) Object.assign(all, await on(`engine ${name}`, OF_ENGINES[name], name));
      return all;
    });
    if (!withPeers) return results;
    for (const peer of peers(await installPeers(), server.url)) {
      const { name, tools } = peer;
      const subject = { name, tools, place: (repair) => peer.place(repair), make: (repair) => peer.make(repair) };
      const work = () => onSubject(subject, { repairs, manners, server, say });
      Object.assign(results, await andThen(() => peer.stop(), work));
    }
    return results;
  } finally {
    await server.stop();
  }
}

/** Resolves with `{'name, manner': rows}`. */
async function onSubject({ name, tools, place, make }, { repairs, manners, server, say }) {
  const results = {};
  for (const manner of manners) {
    const rows = [];
    for (const repair of repairs) {
      if (repair.program !== null && tools.start === undefined) continue;
      const game = server.begin(
        play(repair, tools, place(repair), { sloppy: manner === 'sloppy', number: repair.number }),
      );
      const made = await make(repair);
      if (game.error !== null) throw game.error;
      const { steps, inputTokens } = game;
      rows.push(await judged(repair, { ...made, steps, inputTokens, exact: true }));
    }
    results[`${name}, ${manner}`] = rows;
    say(table(`The player on ${name}, ${manner}`, rows.map(shown)));
  }
  return results;
}

/** Agents of a service that runs already, `slug@version`; or of one that is booted for them, from files with their definitions. */
async function byAgents(repairs, agents, model, say) {
  const [file, ...others] = agents.map(isFile);
  if (others.some((one) => one !== file))
    throw new SetupError('--agent names files, or agents of a running service: not both.');
  const opening = file ? () => Millwright.start({}) : () => connected();
  const definitions = file ? agents.map(readDefinition) : [];
  return withOpen(opening, async (service) => {
    const results = {};
    for (const [n, name] of agents.entries()) {
      const found = await service.findAgent(
        file ? await service.makeAgent({ ...definitions[n], slug: `eval-${n + 1}` }) : name,
      );
      const by = { ...found, ...(model !== undefined && { model }) };
      const title = file ? name : found.agent;
      results[title] = await asked(service, repairs, by, `The agent ${title}`, say);
    }
    return results;
  });
}

/** As the command has it. */
function connected() {
  const { MILLWRIGHT_URL: url, MILLWRIGHT_API_KEY: key } = process.env;
  if (url && key) return Millwright.connect(url, key);
  throw new SetupError(
    '--agent SLUG@VERSION needs MILLWRIGHT_URL and MILLWRIGHT_API_KEY of a running service; a definition in a file needs none.',
  );
}

/** A real model: one that is named, or that of an agent. */
async function asked(service, repairs, by, title, say) {
  const rows = [];
  for (const repair of repairs) {
    const made = await service.make(repair, by);
    const { steps, inputTokens, cost } = made.usage;
    rows.push({
      ...(await judged(repair, { ...made, steps, inputTokens, exact: false })),
      cost: cost === null ? null : Number(cost.amount),
    });
  }
  say(table(title, rows.map(shown)));
  return rows;
}

const withService = (options, work) => withOpen(() => Millwright.start(options), work);

async function withOpen(open, work) {
  const opening = Promise.resolve(open());
  const stop = async () => (await opening.catch(() => null))?.stop();
  return andThen(stop, async () => work(await opening));
}

/** Does the work and cleans up, also when a signal ends it. */
async function andThen(stop, work) {
  const onSignal = () => void stop().finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, onSignal);
  try {
    return await work();
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, onSignal);
    await stop();
  }
}

async function judged(repair, { files, status, steps, inputTokens, wallMs, exact }) {
  const failed = await failing(repair, files);
  const damaged = damage(repair, files, { exact });
  const solved = status === 'completed' && failed.length === 0;
  return { repair: repair.name, solved, damaged, failed, status, steps, inputTokens, wallMs };
}

function shown({ repair, solved, damaged, failed, status, steps, inputTokens, wallMs, cost }) {
  return {
    repair,
    solved: solved ? 'yes' : status === 'completed' ? `no: ${failed.join(', ')}` : `no: ${status}`,
    damaged: damaged.join(', ') || '–',
    steps,
    'input tokens': inputTokens,
    seconds: wallMs / 1000,
    ...(cost !== undefined && { USD: cost }),
  };
}

function sumOf(rows) {
  const sum = (key) => rows.reduce((all, row) => all + (row[key] ?? 0), 0);
  return {
    solved: `${rows.filter(({ solved }) => solved).length} of ${rows.length}`,
    'damaged files': rows.reduce((all, { damaged }) => all + damaged.length, 0),
    steps: sum('steps'),
    'input tokens': sum('inputTokens'),
    seconds: sum('wallMs') / 1000,
    ...(rows.some(({ cost }) => typeof cost === 'number') && { USD: sum('cost') }),
  };
}
