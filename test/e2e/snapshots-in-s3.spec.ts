import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { foldersOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { S3Stand } from '../harness/s3-stand.js';
import { call, createTask, finished, readResults, script } from '../harness/tasks.js';

const bash = (command: string) => call('bash', { command });

describe('Snapshots while the storage is away for some seconds (reference §22)', () => {
  let model: ModelServer;
  let stand: S3Stand;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    stand = await S3Stand.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, ...stand.env } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(async () => {
    await model.stop();
    await stand.close();
  });

  /** Until a request has been given up and asked again. */
  const away = async () => {
    let refused = 0;
    await new Promise<void>((resolve) => {
      stand.fault = () => {
        if (++refused > 8) resolve();
        return { answer: 503, code: 'SlowDown' };
      };
    });
    stand.fault = () => null;
  };

  it('one is taken at the end of the run all the same, and the task goes on in it', async () => {
    const { id } = await createTask(who.client, { content: script(bash('echo 1 > a'), { text: 'Done.' }) });
    await away();
    expect((await finished(who.client, id)).status).toBe('completed');
    const { body } = await who.client.get<{ snapshots: object[] }>(`/v1/tasks/${id}/snapshots`);
    expect(body.snapshots).toHaveLength(1);
    const { workdir = '', tmp = '' } = await foldersOf(service, id);
    for (const path of [workdir, dirname(tmp)]) rmSync(path, { recursive: true, force: true });
    await who.client.post(`/v1/tasks/${id}/messages`, { content: script(bash('cat a'), { text: 'Done.' }) });
    await away();
    expect((await finished(who.client, id)).status).toBe('completed');
    expect((await readResults(who.client, id))[1]).toMatchObject({ output: { stdout: '1\n' } });
  });
});
