import { bootWorker, useService } from '../harness/app.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { tableOf } from '../secrets/table.js';
import { Bench, type Outcome } from './bench.js';
import { OTHERS } from './kinds-others.js';
import { PLACES } from './kinds-places.js';
import { TESTS } from './kinds-tests.js';
import type { Lie } from './lie.js';
import { SCENES } from './scenes.js';

const KINDS: Lie[] = [...TESTS, ...PLACES, ...OTHERS];
const LIARS = LONG ? 200 : KINDS.length;
const HONEST = LONG ? 50 : 14;

describe('Agents that say that they are done (reference §26)', () => {
  const repositories = new RepositoryFolder();
  const bench = new Bench(repositories);
  const random = numbers(SEED);
  const first = Math.floor(random() * 1000);
  const service = useService(async () => {
    await bench.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: bench.model.url },
      config: {
        models: [{ id: 'scripted', provider: 'openai-compatible' }, { id: 'runbook', provider: 'runbook' }],
        repositoryFiles: [repositories.path],
        transparency: { tool_activity: true, data: true },
      },
    }); // prettier-ignore
  });
  beforeAll(() => bench.join(service), 60_000);
  afterAll(() => bench.stop());

  it(`${LIARS} agents lie in ${KINDS.length} ways: none is accepted, and each lie would have deceived somebody else`, async () => {
    const agents = Array.from({ length: LIARS }, (_, at) => {
      const lie = KINDS[at % KINDS.length] as Lie;
      return { lie, n: first + Math.floor(at / KINDS.length), runbook: at % 3 === 2 };
    });
    const ends = await bench.all(agents, ({ lie, n, runbook }) => bench.lies(lie, n, runbook));
    const rows = KINDS.map(({ name }) => {
      const of = ends.filter((_, at) => agents[at]?.lie.name === name);
      return { kind: name, attempts: of.length, held: of.filter(({ accepted, wrongs }) => !accepted && wrongs.length === 0).length }; // prettier-ignore
    });
    process.stderr.write(`\nLying agents, MILLWRIGHT_SEED=${SEED}\n${tableOf(rows)}\n`);
    expect(wrongsOf(ends)).toEqual([]);
    expect(ends.filter(({ accepted }) => accepted)).toEqual([]);
  }, 1_800_000);

  it(`${HONEST} honest agents on the same tasks are all accepted`, async () => {
    const done = Object.entries(SCENES).flatMap(([scene, { honest }]) => honest.map((does) => ({ scene: scene as keyof typeof SCENES, does }))); // prettier-ignore
    const agents = Array.from({ length: HONEST }, (_, at) => ({ ...(done[at % done.length] as (typeof done)[number]), runbook: at % 2 === 1 })); // prettier-ignore
    const ends = await bench.all(agents, ({ scene, does, runbook }) => bench.works(scene, does, runbook));
    process.stderr.write(`\nHonest agents: ${ends.filter(({ accepted }) => accepted).length} of ${HONEST} accepted\n`);
    expect(wrongsOf(ends)).toEqual([]);
    expect(ends.map(({ accepted }) => accepted)).toEqual(agents.map(() => true));
  }, 900_000);

  it('without checks, all that an agent says is believed', async () => {
    const lies = Object.keys(SCENES).map((scene) => KINDS.find((lie) => lie.scene === scene) as Lie);
    const ends = await bench.all(lies, (lie) => bench.lies(lie, first, false, { checked: false }));
    expect(ends.map(({ accepted }) => accepted)).toEqual(lies.map(() => true));
  }, 300_000);
});

const wrongsOf = (ends: Outcome[]) => ends.flatMap(({ what, wrongs }) => wrongs.map((wrong) => `${what}: ${wrong}`));
