// Whom a directory takes away is out when its request is answered (reference §31).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ScimTokens } from '../../src/access/provisioning/scim-tokens.js';
import { Streams } from '../../src/resources/events/streams.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Directory } from '../harness/scim.js';
import { makeWorkspace, Traveller } from '../harness/sign-in.js';
import { type StreamReader, useStreams } from '../harness/streams.js';

describe('A person whom a directory takes away (reference §31)', () => {
  let db: TestDatabase;
  let provider: MockProvider;
  /** Two processes of one installation: the directory speaks to the first. */
  let [service, other]: TestApp[] = [];
  let directory: Directory;
  beforeAll(async () => {
    [db, provider] = await Promise.all([createDatabase(), MockProvider.listen()]);
    const boot = () => bootApp({ db, env: SECRET_ENV, config: { signIn: signInBy(provider) } });
    service = await boot();
    other = await boot();
    watchAnswers(service);
    const { secret } = await service.app
      .get(ScimTokens, { strict: false })
      .create(await makeWorkspace(service, 'acme'));
    directory = new Directory(service, secret);
    // What looks each second is held back, in both: nothing but the removal ends a stream.
    for (const one of [service, other]) Object.assign(streamsOf(one), { looking: true });
  }, 120_000);
  afterAll(async () => {
    await Promise.all([service?.close(), other?.close(), provider?.close()]);
    await db?.drop();
  });

  const open = useStreams();
  /** How many streams were open when the first process answered the directory. */
  const atAnswers: number[] = [];
  function watchAnswers(to: TestApp): void {
    to.app.getHttpServer().prependListener('request', ({ url }: IncomingMessage, res: ServerResponse) => {
      if (url?.startsWith('/scim/') !== true) return;
      const end = res.end.bind(res);
      const watched = (...words: Parameters<typeof end>) => (atAnswers.push(streamsOf(to).size), end(...words));
      Object.assign(res, { end: watched });
    });
  }
  const streamsOf = ({ app }: TestApp): Streams => app.get(Streams, { strict: false });
  let count = 0;
  /** Signed in, with a key, and known to the directory. */
  async function person(): Promise<{ id: string; traveller: Traveller; secret: string }> {
    count += 1;
    const email = `gone-${count}@acme.example`;
    const id = await directory.add(email);
    provider.claims = { ...ADA, sub: email, email };
    const traveller = new Traveller(service as TestApp);
    await traveller.signIn();
    const made = await traveller.go('/v1/keys', { method: 'POST', json: { name: 'k', scopes: ['tasks:read'] } });
    expect(made.status).toBe(201);
    return { id, traveller, secret: ((await made.json()) as { secret: string }).secret };
  }
  const withCookie = ({ cookies }: Traveller) => ({
    'Sec-Fetch-Site': 'same-origin',
    Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  });
  const whoIs = async (secret: string): Promise<number> =>
    (await fetch(`${service?.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  const endOf = async (stream: StreamReader | undefined) => (await stream?.end())?.data;

  it.each([
    ['is set to inactive', (id: string) => directory.patch(`Users/${id}`, { op: 'replace', value: { active: false } })],
    ['is deleted', (id: string) => directory.send('DELETE', `Users/${id}`)],
  ])('who %s: streams have ended before the answer, and cookie, key and code are refused at once', async (_how, remove) => {
    const { id, traveller, secret } = await person();
    const events = `${service?.url}/v1/events`;
    const streams = [await open(events, secret), await open(events, null, withCookie(traveller))];
    await Promise.all(streams.map((stream) => stream.frame('stream.caught_up')));
    const begun = (await (await traveller.go('/console/device', { method: 'POST' })).json()) as Record<string, string>;
    const json = { userCode: begun['userCode'], approved: true };
    expect((await traveller.go('/console/device/code', { method: 'POST', json })).status).toBe(204);
    expect([streamsOf(service as TestApp).size, await whoIs(secret), (await traveller.who()).status]).toEqual([2, 200, 200]);

    atAnswers.length = 0;
    expect((await remove(id)).status).toBeLessThan(300);
    expect(atAnswers).toEqual([0]);
    expect([await whoIs(secret), (await traveller.who()).status]).toEqual([401, 401]);
    const asked = await traveller.go('/console/device/token', { method: 'POST', json: { deviceCode: begun['deviceCode'] } });
    expect(await asked.json()).toMatchObject({ error: { code: 'expired_token' } });
    for (const stream of streams) expect(await endOf(stream)).toMatchObject({ type: 'stream.end', reason: 'unauthorized' });
  }); // prettier-ignore

  it('follows nothing in another process either, which is told', async () => {
    const gone = await person();
    const stays = await person();
    const streams = await Promise.all([gone, stays].map(({ secret }) => open(`${other?.url}/v1/events`, secret)));
    await Promise.all(streams.map((stream) => stream.frame('stream.caught_up')));
    await directory.patch(`Users/${gone.id}`, { op: 'replace', value: { active: false } });
    expect(await endOf(streams[0])).toMatchObject({ type: 'stream.end', reason: 'unauthorized' });
    expect([streamsOf(other as TestApp).size, streams[1]?.ended]).toEqual([1, false]);
  });
});
