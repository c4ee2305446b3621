// What POST /mcp adds to the route of a tool: one connection, one request after the other, the two in turns.
import { Agent, request } from 'node:http';
import { percentile } from './figures.mjs';

const [WARM, PAIRS] = [1500, 1500];

/** GET of one task, and the tool that reads it. */
export async function throughMcp(world, { rounds }) {
  const program = await world.service({ ROLE: 'api' });
  const { task } = world.ids;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_task', arguments: { taskId: task } } }; // prettier-ignore
  const body = JSON.stringify(message);
  const json = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const ask = (method, path, more, sent) =>
    new Promise((done, failed) => {
      const began = performance.now();
      const headers = { authorization: `Bearer ${world.key}`, ...more };
      const asking = request(program.origin + path, { method, headers, agent }, (answer) => {
        let text = '';
        answer
          .on('data', (data) => (text += data))
          .once('end', () => {
            if (answer.statusCode !== 200 || text.includes('"isError"')) failed(new Error(text.slice(0, 300)));
            else done(performance.now() - began);
          });
      });
      asking.once('error', failed).end(sent);
    });
  const direct = () => ask('GET', `/v1/tasks/${task}`, {});
  const called = () => ask('POST', '/mcp', json, body);
  try {
    for (let n = 0; n < WARM; n++) await direct().then(called);
    const [route, tool] = [[], []];
    for (let n = 0; n < rounds * PAIRS; n++) {
      route.push(await direct());
      tool.push(await called());
    }
    const row = (subject, times) => ({ subject, 'p50 ms': percentile(times, 0.5), 'p95 ms': percentile(times, 0.95) });
    const [first, second] = [row('GET task', route), row('get_task', tool)];
    return [first, { ...second, 'p50 over the route': second['p50 ms'] - first['p50 ms'] }];
  } finally {
    agent.destroy();
    await program.stop();
  }
}
