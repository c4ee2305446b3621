// A service whose tasks work in environments, for the tests of one block.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootWorker, type BootOptions, type TestApp, useService } from './app.js';
import { buildsOf, createBox } from './builds.js';
import { makeMember, type Member } from './client.js';
import { foldersOf } from './folder-listing.js';
import { ModelServer } from './model-server.js';
import { call, createTask, finished, readMessages, readResults, script, type TaskBody } from './tasks.js';
import { until } from './until.js';

const DONE = { text: 'Done.' };

/** The workspaces whose counter is not the sum of the objects that their snapshots and builds name, each once. */
const DRIFT = `
SELECT s.workspace_id FROM storage_usage s WHERE snapshot_bytes <> coalesce((
  SELECT sum(o.bytes) FROM snapshot_objects o WHERE o.workspace_id = s.workspace_id AND (
    EXISTS (SELECT FROM snapshot_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)
    OR EXISTS (SELECT FROM environment_build_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256))), 0)`;

type Steps = Parameters<typeof script>;
type Named = string | object;

export const bash = (command: string) => call('bash', { command });
/** A command of a setup that goes on until {@link BuildStand.held} lets it. */
export const WAITS = 'touch waits; while [ -e waits ]; do sleep 0.02; done';

export class BuildStand {
  owner: Member;
  constructor(readonly service: TestApp) {}

  readonly make = (definition: object) => createBox(this.owner.client, definition);
  readonly start = (environment: Named, ...steps: Steps) =>
    createTask(this.owner.client, { content: script(...steps, DONE), environment });
  readonly work = async (environment: Named, ...steps: Steps) => {
    const { id } = await this.start(environment, ...steps);
    return finished(this.owner.client, id);
  };
  readonly goOn = async ({ id }: TaskBody, ...steps: Steps) => {
    await this.owner.client.post(`/v1/tasks/${id}/messages`, { content: script(...steps, DONE) });
    return finished(this.owner.client, id);
  };
  readonly outputs = async ({ id }: TaskBody) =>
    (await readResults(this.owner.client, id)).map(({ output }) => (output as { stdout: string } | undefined)?.stdout);
  readonly parts = async ({ id }: TaskBody) =>
    (await readMessages(this.owner.client, id)).flatMap((message) => message.parts);
  readonly builds = (slug: string) => buildsOf(this.owner.client, slug);

  /** Waits until the setup has come to {@link WAITS}; the function that it resolves with lets it go on. */
  readonly held = async (slug: string) => {
    const build = await until('a build', async () => (await this.builds(slug))[0]);
    const { workdir = '' } = await foldersOf(this.service, build.id);
    await until('the setup to wait', () => existsSync(join(workdir, 'waits')), { within: 150_000 });
    return () => rmSync(join(workdir, 'waits'));
  };

  /** The task, as soon as it waits for a build. */
  readonly waits = ({ id }: TaskBody) =>
    until('the task to wait', async () => {
      const { body } = await this.owner.client.get<{ task: TaskBody }>(`/v1/tasks/${id}`);
      return body.task.statusReason?.code === 'environment_building' ? body.task : null;
    });
}

/** A stand for the tests of the block that calls this, each with a workspace of its own. What is stored is counted right behind each. */
export function useBuilds(config: () => Promise<BootOptions['config']>): BuildStand {
  let model: ModelServer;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, WORKER_CONCURRENCY: '8' },
      config: { transparency: { data: true }, ...(await config()) },
    });
  });
  const stand = new BuildStand(service);
  beforeEach(async () => {
    stand.owner = await makeMember(service, { role: 'owner' });
  });
  afterEach(async () => expect(await service.db.query(DRIFT)).toEqual([]));
  afterAll(() => model.stop());
  return stand;
}
