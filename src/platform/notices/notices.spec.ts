import { newId } from '../database/ids.js';
import { Notices, type Work } from './notices.js';
import type { PgChannel } from './pg-channel.js';

/** Processes of one installation: what one sends, all of them receive. */
function processes(count: number): { notices: Notices[]; sent: string[] } {
  const sent: string[] = [];
  const receivers: ((text: string) => void)[] = [];
  const channel = {
    connected: true,
    onText: (receive: (text: string) => void) => receivers.push(receive),
    onReconnect: () => undefined,
    send: (text: string) => (sent.push(text), receivers.forEach((receive) => receive(text))),
  };
  return { notices: Array.from({ length: count }, () => new Notices(channel as unknown as PgChannel)), sent };
}
const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('A notice', () => {
  it('of many runs that must stop reaches each process whole, in parts that NOTIFY takes', async () => {
    const { notices, sent } = processes(2);
    const heard = notices.map((one) => {
      const ids: string[] = [];
      one.on('stop', (stop) => ids.push(...stop));
      return ids;
    });
    const stop = Array.from({ length: 1000 }, () => newId());
    notices[0]?.send({ stop });
    await soon();
    expect(heard).toEqual([stop, stop]);
    for (const text of sent) expect(Buffer.byteLength(text)).toBeLessThan(8000);
  });

  const WORK: Work = { kind: 'runs', id: 'one' };

  it('of work stays in a process that works, goes to others from one that does not, and to its carrier where there is one', async () => {
    const { notices, sent } = processes(2);
    const [api, worker] = notices as [Notices, Notices];
    const heard: Work[] = [];
    worker.on('work', (work) => heard.push(work));
    worker.send({ work: WORK });
    await soon();
    expect([heard, sent]).toEqual([[WORK], []]);
    api.send({ work: WORK });
    expect([heard.length, sent.length]).toEqual([2, 1]);
    const carried: Work[] = [];
    api.carryWorkBy({ connected: true, add: (work) => carried.push(work) });
    api.send({ work: WORK });
    await soon();
    expect([carried, heard.length, sent.length]).toEqual([[WORK], 2, 1]);
  });

  it('of events is heard here alone, and what is passed on by others alone', () => {
    const { notices, sent } = processes(2);
    const heard: string[] = [];
    notices.forEach((one, n) => one.on('workspace', (id, here) => heard.push(`${n} ${id} ${here}`)));
    notices[0]?.send({ workspace: 'w' });
    expect([heard, sent]).toEqual([['0 w true'], []]);
    notices[0]?.passOn({ workspace: 'w' });
    expect(heard).toEqual(['0 w true', '1 w false']);
  });
});
