import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { Client, makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { call, runTask, script } from '../harness/tasks.js';

describe('A backup of snapshots (reference §16, §22)', () => {
  let model: ModelServer;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  const room = temporaryFolder();
  afterAll(async () => {
    room.remove();
    await model.stop();
  });

  it('has their bytes: what is restored shows the folder of each of them', async () => {
    const { client, key } = await makeMember(service, { role: 'owner' });
    const make = call('bash', { command: 'mkdir docs; echo kept > docs/a' });
    const task = await runTask(client, script(make, { text: 'Done.' }));
    const [folder, dataDir] = [join(room.path, 'backup'), join(room.path, 'restored')];
    await new Operator(service, { DATA_DIR: service.app.get(DataDir).path }).run('backup', folder);
    const target = await emptyDatabase();
    await new Operator({ db: target }, { DATA_DIR: dataDir }).run('restore', folder);
    const copy = await bootApp({ db: target, env: { DATA_DIR: dataDir } });
    try {
      const restored = new Client(copy.url, key.secret);
      const path = `/v1/tasks/${task.id}`;
      const listed = await restored.get<{ snapshots: { id: string }[] }>(`${path}/snapshots`);
      expect(listed.body.snapshots).toHaveLength(1);
      const query = `path=docs/a&snapshot=${listed.body.snapshots[0]?.id}`;
      expect((await restored.get(`${path}/workdir/content?${query}`)).text).toBe('kept\n');
    } finally {
      await copy.close();
      await target.drop();
    }
  });
});
