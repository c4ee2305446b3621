import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, runTask, script } from '../harness/tasks.js';

describe('x', () => {
  let model: ModelServer;
  let member: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ config: { models: [{id: 'priced', provider: 'openai-compatible', baseUrl: model.url, prices: {input: 0.5, cachedInput: 0.05, output: 3.3}}] } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());
  it('y', async () => {
    const t = await runTask(member.client, script(call('bash', {command: 'true'}), {text: 'ok'}));
    console.log(t, await service.db.query('select * from usage_ledger'), await service.db.query('select * from usage_days'), await service.db.query('select cost_micros, turn_cost_micros, turn_beyond from tasks'));
  });
});
