// `npm run eval -- --agent`: repairs by agents of a service that runs already.
import { jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import type { TaskBody } from '../harness/tasks.js';

const part = async (name: string) =>
  (await import(new URL(`../../eval/${name}.mjs`, import.meta.url).href)) as Record<string, unknown>;
interface Repair {
  name: string;
  number: number;
}
interface Server {
  url: string;
  begin(player: unknown): { steps: number };
  stop(): Promise<void>;
}
const { loadRepairs } = (await part('repairs')) as { loadRepairs: (names: string[]) => Repair[] };
const { play } = (await part('player')) as { play: (...args: unknown[]) => unknown };
const { MILLWRIGHT } = (await part('tools')) as { MILLWRIGHT: unknown };
const { PlayerServer } = (await part('model-server')) as { PlayerServer: { start(): Promise<Server> } };
const { Millwright } = (await part('millwright')) as {
  Millwright: { connect(url: string, key: string): { place(repair: Repair): unknown; stop(): Promise<void> } };
};
const { evaluate } = (await part('evaluate')) as { evaluate: (options: object) => Promise<boolean> };
const { readDefinition } = (await part('definition')) as { readDefinition: (path: string) => object };

describe('An evaluation by agents', () => {
  const [repair] = loadRepairs(['sh-report']) as [Repair];
  let server: Server;
  let owner: Member;
  const service = useService(async () => {
    server = await PlayerServer.start();
    const models = [
      { id: 'player', provider: 'openai-compatible', model: 'player', baseUrl: server.url, default: true },
    ];
    return bootWorker({ config: { models } });
  });
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client, { slug: 'fixer', budget: { maxSteps: 30 } });
    await changeAgent(owner.client, 'fixer', { tools: { deny: ['publish'] }, channels: { stable: 1 } });
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    process.env['MILLWRIGHT_URL'] = service.url;
    process.env['MILLWRIGHT_API_KEY'] = owner.key.secret;
    const place = Millwright.connect(service.url, owner.key.secret);
    server.begin(play(repair, MILLWRIGHT, place.place(repair), { sloppy: false, number: repair.number }));
    return place.stop();
  });
  afterEach(() => {
    delete process.env['MILLWRIGHT_URL'];
    delete process.env['MILLWRIGHT_API_KEY'];
    jest.restoreAllMocks();
  });

  const run = async (agent: string) => {
    const log = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const solved = await evaluate({ names: [repair.name], agent: [agent], json: true });
    return { solved, told: JSON.parse(String(log.mock.calls.at(-1)?.[0])) as { results: Record<string, object[]> } };
  };

  it('has a version of it make the repairs, in its limits, and judges them by hidden checks', async () => {
    const { solved, told } = await run('fixer@stable');
    expect([solved, told.results]).toMatchObject([
      true,
      { 'fixer@1': [{ repair: repair.name, solved: true, damaged: [] }] },
    ]);
    const { body } = await owner.client.get<{ tasks: TaskBody[] }>('/v1/tasks?tag=eval');
    expect(body.tasks).toMatchObject([{ agent: { slug: 'fixer', version: 1 }, budget: { maxSteps: 30 }, metadata: { repair: repair.name } }]); // prettier-ignore
  });

  it('says that one which may not hand over has solved nothing', async () => {
    const { solved, told } = await run('fixer');
    expect([solved, told.results]).toMatchObject([false, { 'fixer@2': [{ solved: false }] }]);
  });

  it('says what is missing: a service, an agent, a file', async () => {
    await expect(run('none@1')).rejects.toThrow('There is no such agent');
    await expect(run('fixer@beta')).rejects.toThrow('has no channel beta');
    await expect(run('./none.json')).rejects.toThrow('--agent ./none.json: ENOENT');
    delete process.env['MILLWRIGHT_URL'];
    await expect(run('fixer')).rejects.toThrow('needs MILLWRIGHT_URL and MILLWRIGHT_API_KEY');
    await expect(evaluate({ names: [repair.name], agent: ['fixer', 'a.json'], json: true })).rejects.toThrow(
      'not both',
    );
  });

  it('takes a definition as the command prints it', async () => {
    const { body } = await owner.client.get<{ agent: object }>('/v1/agents/fixer');
    const folder = mkdtempSync(join(tmpdir(), 'eval-agents-'));
    const path = join(folder, 'fixer.json');
    writeFileSync(path, JSON.stringify(body.agent));
    const definition = readDefinition(path);
    rmSync(folder, { recursive: true });
    expect(await createAgent(owner.client, { ...definition, slug: 'copy' })).toMatchObject({ slug: 'copy', version: 1, tools: { deny: ['publish'] } }); // prettier-ignore
  });
});
