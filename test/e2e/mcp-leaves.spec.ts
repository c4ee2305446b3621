// What becomes of an operation whose client has left /mcp.
import { PassThrough } from 'node:stream';
import { REQUESTS } from '../../src/platform/fairness/shares.js';
import { RequestSlots } from '../../src/platform/http/request-slots.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { holdingTask, waiting } from '../harness/locks.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A client that leaves /mcp (reference §29)', () => {
  let member: Member;
  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });

  /** A call that can be left. */
  const call = (name: string, args: object) => {
    const abort = new AbortController();
    const answer = fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${member.key.secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      signal: abort.signal,
    }).then(
      () => 'answered',
      () => 'left',
    );
    return { answer, leave: () => abort.abort() };
  };

  it('ends the file that it reads', async () => {
    const taskId = await makeTask(service, member);
    const [file] = await attach(service, member, taskId, [(await upload(service, member, 'x'.repeat(1000))).id]);
    const storage = service.app.get(LocalStorage, { strict: false });
    const open = storage.open.bind(storage);
    const hangs = new PassThrough();
    storage.open = async (...wanted) => {
      const { stream, size } = await open(...wanted);
      stream.destroy();
      hangs.write('the beginning');
      return { size, stream: hangs };
    };
    const reading = call('read_file', { fileId: file?.id });
    await until('the file to be read', () => hangs.readableFlowing === true || hangs.listenerCount('end') > 0);
    expect(hangs.destroyed).toBe(false);
    reading.leave();
    expect(await reading.answer).toBe('left');
    await until('the file to be closed', () => hangs.destroyed);
    storage.open = open;
  });

  it('ends an operation that still waits for its turn: nothing is made', async () => {
    const { id } = await createTask(member.client, { content: 'x' });
    const task = await holdingTask(service.db, id);
    const holding = Array.from({ length: REQUESTS.writes }, () => call('cancel_task', { taskId: id }));
    await until('all turns to be taken', async () => (await waiting(service.db)).length === REQUESTS.writes);
    const titles = async () => {
      const rows = await service.db.query<{ title: string }>('SELECT title FROM tasks WHERE workspace_id = $1', [
        member.workspace.id,
      ]);
      return rows.map(({ title }) => title);
    };
    const left = call('create_task', { content: 'of one who left' });
    const stays = call('create_task', { content: 'of one who stays' });
    const turns = service.app.get(RequestSlots, { strict: false })['writing']['entries'];
    await until('both to wait for a turn', () => turns.get(member.workspace.id)?.waiting.size === 2);
    left.leave();
    expect(await left.answer).toBe('left');
    await task.release();
    expect(await stays.answer).toBe('answered');
    expect(await Promise.all(holding.map(({ answer }) => answer))).toEqual(holding.map(() => 'answered'));
    expect(await titles()).toContain('of one who stays');
    expect(await titles()).not.toContain('of one who left');
  });
});
