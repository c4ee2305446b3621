import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { postSecret } from '../harness/secrets.js';
import { createTask, finished, readMessages } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

interface Use {
  host: string;
  port: number;
  connections: number;
  failed: number;
  refused: number;
  refusedFor: string | null;
  bytesIn: number;
  bytesOut: number;
  firstAt: string;
  lastAt: string;
}
type Refused = { host: string; port: number; code: string; reason: string };

describe('What a task did with the network (reference §4, §15)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  let release: () => void = () => undefined;
  const service = useService(async () => {
    hosts = await WebHosts.start(({ url }, response) => {
      if (url === '/held') {
        response.write('x'.repeat(5_000));
        release = () => response.end('end\n');
      } else if (url === '/large') response.end('x'.repeat(50_000));
      else return false;
      return true;
    });
    model = await HeldModel.start();
    const allowHosts = [`allowed.test:${hosts.http}`, `allowed.test:${hosts.https}`, `private.test:${hosts.http}`, 'dead.test:1']; // prettier-ignore
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts, caFile: authority.path } },
    });
  });
  beforeAll(async () => {
    const names = { 'allowed.test': ['127.0.0.1'], 'private.test': ['10.0.0.1'], 'dead.test': ['127.0.0.1'] };
    const { resolver } = resolverOf(names);
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    await hosts.stop();
    authority.remove();
  });

  /** A turn with one step for each list of commands, in a new task or in one that is there. */
  const work = async (steps: string[][], task?: string) => {
    const id = task ?? (await createTask(owner.client, { content: 'Go on.' })).id;
    if (task !== undefined) await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Go on.' });
    for (const commands of steps) (await model.asked()).answer(bash(...commands));
    (await model.asked()).answer({ text: 'Done.' });
    expect((await finished(owner.client, id)).status).toBe('completed');
    return id;
  };
  const network = (id: string, query = '') =>
    owner.client.get<{ hosts: Use[]; nextCursor: string | null }>(`/v1/tasks/${id}/network${query}`);
  const told = async (id: string) => {
    const parts = (await readMessages(owner.client, id)).flatMap((message) => message.parts);
    return parts.flatMap(({ type, name, data }) => type === 'data' && name === 'network' ? [(data as { refused: Refused[] }).refused] : []); // prettier-ignore
  };
  /** What the model read of the last results. */
  const read = () => JSON.stringify(model.server.requests.at(-1)?.body);
  const curl = (url: string) => `curl -sS -m 20 -o /dev/null ${url}`;

  it('is counted by host and port: connections, failures, bytes both ways', async () => {
    const { http, https } = hosts;
    const posted = `head -c 30000 /dev/zero | curl -sS -m 20 -o /dev/null --data-binary @- http://allowed.test:${http}/`;
    const id = await work([[curl(`http://allowed.test:${http}/large`), posted], [curl(`https://allowed.test:${https}/large`), curl('http://dead.test:1/')]]); // prettier-ignore
    const { body } = await network(id);
    expect(body.nextCursor).toBe(null);
    const counted = body.hosts.map(({ host, port, connections, failed, refused }) => [host, port, connections, failed, refused]); // prettier-ignore
    const both = [['allowed.test', http, 2, 0, 0], ['allowed.test', https, 1, 0, 0]].sort((a, b) => Number(a[1]) - Number(b[1])); // prettier-ignore
    expect(counted).toEqual([...both, ['dead.test', 1, 0, 1, 0]]);
    const plain = body.hosts.find(({ port }) => port === http);
    expect(plain?.bytesIn).toBeGreaterThan(50_000);
    expect(plain?.bytesOut).toBeGreaterThan(30_000);
    expect(plain?.bytesOut).toBeLessThan(40_000);
    expect(plain?.refusedFor).toBe(null);
    expect(Date.parse(plain?.lastAt ?? '')).toBeGreaterThanOrEqual(Date.parse(plain?.firstAt ?? 'x'));
    expect(await told(id)).toEqual([]);
  });

  it('adds up over the runs of a task', async () => {
    const ask = curl(`http://allowed.test:${hosts.http}/large`);
    const id = await work([[ask]]);
    const [before] = (await network(id)).body.hosts;
    await work([[ask]], id);
    const [after] = (await network(id)).body.hosts;
    expect([before?.connections, after?.connections]).toEqual([1, 2]);
    expect(after?.bytesIn).toBe(2 * (before?.bytesIn ?? 0));
    expect(after?.firstAt).toBe(before?.firstAt);
  });

  it('is on record while a command runs', async () => {
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    (await model.asked()).answer(bash(curl(`http://allowed.test:${hosts.http}/held`)));
    await until('its bytes', async () => ((await network(id)).body.hosts[0]?.bytesIn ?? 0) >= 5_000);
    release();
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    expect((await network(id)).body.hosts).toHaveLength(1);
  });

  it('says what was refused: to the model behind the result, to people as a part, each of its kind once a run', async () => {
    const { http } = hosts;
    const elsewhere = `https://elsewhere.test/`;
    const id = await work([[`${curl(elsewhere)}; ${curl(elsewhere)}`], [curl(elsewhere), curl(`http://private.test:${http}/`)]]); // prettier-ignore
    const first = { host: 'elsewhere.test', port: 443, code: 'host_not_allowed', reason: expect.stringMatching(/^elsewhere\.test:443 is not among the hosts that may be reached from here: allowed\.test/) }; // prettier-ignore
    const second = { host: 'private.test', port: http, code: 'address_not_public', reason: expect.stringContaining('not a public address') }; // prettier-ignore
    const parts = await told(id);
    expect(parts).toEqual([[first], [second]]);
    for (const { reason } of parts.flat()) expect(read().split(`[The network refused this: ${reason}]`)).toHaveLength(2); // prettier-ignore
    const counted = (await network(id)).body.hosts.map(({ host, port, refused, refusedFor }) => [host, port, refused, refusedFor]); // prettier-ignore
    expect(counted).toEqual([['elsewhere.test', 443, 3, 'host_not_allowed'], ['private.test', http, 1, 'address_not_public']]); // prettier-ignore
    await work([[curl(elsewhere)]], id);
    expect(await told(id)).toEqual([[first], [second], [first]]);
  });

  it('says where a secret was refused, and does not take that for a host that is not allowed', async () => {
    const binding = { host: 'allowed.test', port: hosts.https, methods: ['GET'], paths: ['/good/**'], place: { header: 'Authorization' } }; // prettier-ignore
    expect((await postSecret(owner.client, { value: 'a-value-of-a-secret', bindings: [binding] })).status).toBe(201);
    const ask = (path: string, header: string) => `${curl(`https://allowed.test:${hosts.https}${path}`)} -H "${header}: Bearer $TOKEN"`; // prettier-ignore
    const id = await work([[ask('/good/a', 'Authorization')], [ask('/good/a', 'X-Other')], [ask('/bad', 'Authorization')]]); // prettier-ignore
    const at = { host: 'allowed.test', port: hosts.https };
    expect(await told(id)).toEqual([
      [{ ...at, code: 'secret_misplaced', reason: expect.stringMatching(/^The secret TOKEN may not stand in the header X-Other/) }],
      [{ ...at, code: 'secret_not_bound', reason: expect.stringMatching(/^The secret TOKEN is not for GET of this path at allowed\.test/) }],
    ]); // prettier-ignore
    expect(read()).toContain('[The network refused this: The secret TOKEN may not stand in the header X-Other');
    const [use] = (await network(id)).body.hosts;
    expect([use?.connections, use?.refused, use?.refusedFor]).toEqual([3, 2, 'secret_not_bound']);
    const { body } = await owner.client.get<{ task: { network: { refused: string[] } } }>(`/v1/tasks/${id}`);
    expect(body.task.network.refused).toEqual([]);
  });

  it('comes in pages; a task that another workspace has is 404', async () => {
    const id = await work([['a', 'b', 'c'].map((name) => curl(`http://${name}.refused.test/`))]);
    const first = await network(id, '?limit=2');
    expect(first.body.hosts.map(({ host }) => host)).toEqual(['a.refused.test', 'b.refused.test']);
    const second = await network(id, `?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.hosts.map(({ host }) => host)).toEqual(['c.refused.test']);
    expect(second.body.nextCursor).toBe(null);
    const other = await makeMember(service, { role: 'owner' });
    expect((await other.client.get(`/v1/tasks/${id}/network`)).status).toBe(404);
  });

  it('that asks for any number of hosts has 500 of them apart, and the rest as others', async () => {
    const id = await work([[curl(`http://allowed.test:${hosts.http}/large`)]]);
    await service.db.query(`INSERT INTO network_uses (task_id, host, port, first_at, last_at)
      SELECT $1, 'x' || n, 80, now(), now() FROM generate_series(1, 499) n`, [id]); // prettier-ignore
    await work([[curl(`http://allowed.test:${hosts.http}/large`), curl('http://one.test/'), curl('http://two.test/')]], id); // prettier-ignore
    const rows = await service.db.query('SELECT host, port, connections::int, refused::int FROM network_uses WHERE task_id = $1 AND connections + refused > 0 ORDER BY host', [id]); // prettier-ignore
    expect(rows).toEqual([
      { host: 'allowed.test', port: hosts.http, connections: 2, refused: 0 },
      { host: 'others', port: 0, connections: 0, refused: 2 },
    ]);
  });
});
