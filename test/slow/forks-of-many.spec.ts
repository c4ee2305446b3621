// A fork of each of many tasks at each of its turns has the folder of that turn (reference §5).
import { randomUUID } from 'node:crypto';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { listingOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { call, finished, runTask, script, type TaskBody } from '../harness/tasks.js';

const TASKS = LONG ? 200 : 12;
const TURNS = 4;
const AT_ONCE = 4;

/** What a turn does: each command needs what those before it have left. */
const WORK = [
  (n: number) => `echo ${n} >> log; cp log copy-${n}`,
  (n: number) => `mkdir -p d/${n} && mv copy-* d/${n}/ 2>/dev/null; ls -R . | sha256sum > listed-${n}`,
  (n: number) => `ln -f log hard-${n}; ln -sfn hard-${n} newest; chmod ${n % 2 === 0 ? 700 : 600} log`,
  (n: number) => `head -c ${n * 1000} /dev/urandom > noise; truncate -s ${n}0K sparse; printf x >> sparse`,
  (n: number) => `rm -rf d; rm -f noise; cat log newest 2>/dev/null | sort > ~/sorted-${n}; touch -d @${n} log`,
];

describe('A fork of each of many tasks at each turn', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());

  const say = async (id: string, ...turns: Parameters<typeof script>) => {
    await who.client.post(`/v1/tasks/${id}/messages`, { content: script(...turns) });
    expect(await finished(who.client, id)).toMatchObject({ status: 'completed' });
  };

  /** The folders of the forks at turns that are not as they were. */
  async function differences(chance: () => number): Promise<string[]> {
    const work = () => {
      const n = 1 + Math.floor(chance() * 999);
      return call('bash', { command: WORK[Math.floor(chance() * WORK.length)]?.(n) ?? '' });
    };
    const { id } = await runTask(who.client, script(work(), { text: 'Done.' }));
    const folders = [await listingOf(service, id)];
    for (let turn = 2; turn <= TURNS; turn++) {
      await say(id, work(), work(), { text: 'Done.' });
      folders.push(await listingOf(service, id));
    }
    const different = [];
    for (const [at, folder] of folders.entries()) {
      const headers = { 'Idempotency-Key': randomUUID() };
      const answer = await who.client.post<{ task: TaskBody }>(`/v1/tasks/${id}/fork`, { turn: at + 1 }, { headers });
      expect(answer.status).toBe(201);
      const fork = answer.body.task.id;
      await say(fork, { text: 'Nothing to do.' });
      const found = await listingOf(service, fork);
      if (found.join('\n') !== folder.join('\n')) different.push(`${id} at turn ${at + 1}`);
    }
    return different;
  }

  it(`has the folder of that turn: ${TASKS} tasks of ${TURNS} turns, seed ${SEED}`, async () => {
    const chance = numbers(SEED);
    const different: string[] = [];
    let left = TASKS;
    const one = async () => {
      while (left-- > 0) different.push(...(await differences(chance)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    expect(different).toEqual([]);
  }, 1_200_000);
});
