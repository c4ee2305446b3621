import { setTimeout as wait } from 'node:timers/promises';
import type { Agent, AgentStats, ChangeAgent, Evaluate } from '@millwright/sdk';
import { client } from './account.js';
import { checksIn } from './checks.js';
import { fileContent, objectIn } from './json-file.js';
import { type Line, UsageError, type Verb } from './line.js';
import { numberIn, skillsIn } from './task-options.js';
import { plain } from './terminal.js';
import { found, show } from './versioned.js';

/** What `show` prints and the service alone says. */
const ITS_OWN = ['id', 'slug', 'version', 'archived', 'createdBy', 'createdAt', 'updatedAt'];

/** The verbs below `agents`. */
export const AGENTS: Record<string, Verb | undefined> = {
  list: {
    words: [],
    options: { archived: 'switch' },
    async run(line) {
      for await (const one of client().agents.list({ archived: line.has('archived') ? 'all' : 'false' })) print(line, one);
      return 0;
    },
  },
  show: {
    words: ['SLUG', '[VERSION]'],
    options: {},
    run: (line) => show(line, client().agents),
  },
  set: {
    words: ['SLUG'],
    options: {
      file: 'text', name: 'text', description: 'text', instructions: 'text', model: 'text', effort: 'text', approvals: 'text',
      'max-steps': 'text', 'max-cost': 'text', deny: 'texts', skill: 'texts', 'no-web': 'switch', environment: 'text', tag: 'texts', check: 'texts', protect: 'texts',
      'max-repairs': 'text', channel: 'texts', default: 'switch',
    },
    async run(line) {
      const slug = line.word(0);
      const given = { ...(await objectIn(line.text('file'), ITS_OWN)), ...fieldsIn(line) } as Omit<ChangeAgent, 'version'>;
      const { agents } = client();
      const before = await found(agents.get(slug));
      const channels = channelsIn(line, before);
      const body = { ...given, ...(channels && { channels }) };
      return print(line, before === null ? await agents.create({ slug, ...body }) : await agents.update(slug, { version: before.version, ...body }));
    },
  },
  archive: {
    words: ['SLUG'],
    options: { undo: 'switch' },
    async run(line) {
      const { agents } = client();
      const { version } = await agents.get(line.word(0));
      return print(line, await agents.update(line.word(0), { version, archived: !line.has('undo') }));
    },
  },
  versions: {
    words: ['SLUG'],
    options: {},
    async run(line) {
      for await (const one of client().agents.versions(line.word(0))) {
        console.log(line.json ? JSON.stringify(one) : plain(`${one.version}  ${one.createdAt}  ${one.createdBy.name}`));
      }
      return 0;
    },
  },
  stats: {
    words: ['SLUG'],
    options: { from: 'text', to: 'text' },
    async run(line) {
      const [from, to] = [line.text('from'), line.text('to')];
      const stats = await client().agents.stats(line.word(0), { ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
      if (line.json) console.log(JSON.stringify(stats));
      else for (const one of stats.versions) console.log(plain(figures(one)));
      return 0;
    },
  },
  evaluate: {
    words: ['SLUG'],
    options: { versions: 'text', file: 'text', task: 'texts', repeat: 'text', detach: 'switch' },
    async run(line) {
      const { agents } = client();
      const body = { ...(await objectIn(line.text('file'), [])), ...evaluationIn(line) } as Evaluate;
      let evaluation = await agents.evaluate(line.word(0), body);
      for (console.error(`Evaluation ${evaluation.id}`); evaluation.status === 'running' && !line.has('detach'); ) {
        await wait(LOOK_MS);
        evaluation = await agents.evaluation(evaluation.id);
      }
      if (line.json) console.log(JSON.stringify(evaluation));
      else for (const one of evaluation.table) console.log(plain(figures(one)));
      return 0;
    },
  },
}; // prettier-ignore

const LOOK_MS = 1_000;

function evaluationIn(line: Line): Partial<Evaluate> {
  const [versions, repeat, tasks] = [line.text('versions'), numberIn(line, 'repeat'), line.texts('task')];
  if (versions !== undefined && !/^[1-9]\d*(,[1-9]\d*)*$/.test(versions)) throw new UsageError('--versions takes numbers, such as 2,3.');
  return {
    ...(versions !== undefined && { versions: versions.split(',').map(Number) }),
    ...(repeat !== undefined && { repeat }),
    ...(tasks.length > 0 && { cases: tasks.map((taskId) => ({ taskId })) }),
  };
} // prettier-ignore

/** One line of figures, the same for stats and evaluations. */
export function figures(one: AgentStats['versions'][number]): string {
  const failed = Object.entries(one.failed).map(([code, n]) => `${n} ${code}`);
  const { passed, failed: unfit } = one.checks;
  return [
    `version ${one.version}`,
    `${one.tasks} tasks`,
    `${one.completed} completed`,
    ...(failed.length > 0 ? [`failed: ${failed.join(', ')}`] : []),
    ...(passed + unfit > 0 ? [`checks ${passed} of ${passed + unfit}`] : []),
    `${one.questions} questions`,
    `${one.steps} steps`,
    `${one.inputTokens + one.outputTokens} tokens`,
    ...(one.cost === null ? [] : [`$${one.cost.amount}`]),
    ...(one.minutes === null ? [] : [`${one.minutes.p50} min (p90 ${one.minutes.p90})`]),
  ].join('  ');
}

function fieldsIn(line: Line): Record<string, unknown> {
  const texts = ['name', 'description', 'model', 'effort', 'approvals', 'environment'].flatMap((name) => {
    const value = line.text(name);
    return value === undefined ? [] : [[name, value]];
  });
  const [instructions, maxSteps, maxCost] = [line.text('instructions'), numberIn(line, 'max-steps'), line.text('max-cost')];
  const budget = { ...(maxSteps !== undefined && { maxSteps }), ...(maxCost !== undefined && { maxCost }) };
  const [deny, tags] = [line.texts('deny'), line.texts('tag')];
  return {
    ...(Object.fromEntries(texts) as object),
    ...(instructions !== undefined && { instructions: instructionsIn(instructions) }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(deny.length > 0 && { tools: { deny } }),
    ...skillsIn(line),
    ...(line.has('no-web') && { web: false }),
    ...(tags.length > 0 && { tags }),
    ...(line.has('default') && { default: true }),
    ...checksIn(line),
  };
} // prettier-ignore

/** `@FILE` is the text of a file. */
function instructionsIn(word: string): string {
  return word.startsWith('@') ? fileContent('--instructions', word.slice(1)) : word;
}

/** Beside those that it has: `stable=3`; `stable=` takes one away. */
function channelsIn(line: Line, before: Agent | null): Record<string, number> | undefined {
  const words = line.texts('channel');
  if (words.length === 0) return undefined;
  const channels = new Map(Object.entries(before?.channels ?? {}));
  for (const word of words) {
    const [, name, version] = /^([^=]+)=(\d*)$/.exec(word) ?? [];
    if (name === undefined) throw new UsageError(`--channel takes NAME=VERSION, not ${word}.`);
    if (version === '') channels.delete(name);
    else channels.set(name, Number(version));
  }
  return Object.fromEntries(channels);
}

function print(line: Line, one: Agent): number {
  const channels = Object.entries(one.channels).map(([name, version]) => `  ${name}=${version}`);
  const marks = [...(one.default ? ['  default'] : []), ...(one.archived ? ['  archived'] : [])].join('');
  console.log(line.json ? JSON.stringify(one) : plain(`${one.slug}  version ${one.version}${channels.join('')}${marks}  ${one.name}`));
  return 0;
} // prettier-ignore
