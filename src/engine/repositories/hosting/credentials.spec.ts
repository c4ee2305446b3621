import { cut, endless, HostileHost, json, type Serve, text } from '../../../../test/harness/hostile-host.js';
import { Egress } from '../../../platform/egress/egress.js';
import { RepositoryError } from '../repository-error.js';
import { apiFetch } from './api-fetch.js';
import { accountOfToken } from './credentials.js';

/** What a host says when it is asked who a token is of. */
const ACCOUNTS: [string, 'github' | 'gitlab', Serve][] = [
  ['null', 'github', json(null)],
  ['a text', 'gitlab', json('acme')],
  ['a list', 'github', json([{ login: 'acme' }])],
  ['nothing', 'gitlab', text('')],
  ['two values of JSON', 'github', text('{"login":"a"}{"login":"b"}')],
  ['a page for people', 'gitlab', text('<html>Log in</html>', 'text/html')],
  ['an account without a name', 'github', json({ login: '' })],
  ['an account by a list', 'gitlab', json({ username: ['acme'] })],
  ['an account with a line break', 'github', json({ login: 'acme\nX-Token: y' })],
  ['half of a character', 'github', text('{"login":"\\ud800"}')],
  ['an account of a megabyte', 'gitlab', json({ username: 'x'.repeat(1_000_000) })],
  ['a redirect to the network inside', 'github', text('', undefined, 302, { location: 'http://169.254.169.254/' })],
  ['a refusal', 'gitlab', json({ message: { toString: 1 } }, 401)],
  ['too many requests', 'github', text('Retry later', 'text/plain', 429)],
  ['an error of its own', 'gitlab', text('<html>', 'text/html', 502)],
  ['a JSON that never ends', 'github', endless],
  ['a body that is cut off', 'gitlab', cut],
];

describe('What a host answers about a credential (reference §15)', () => {
  const egress = new Egress(['127.0.0.1/32']);
  let web: HostileHost;

  beforeAll(async () => {
    web = await HostileHost.listen();
  });
  afterAll(() => web.close());

  it.each(ACCOUNTS)('%s (%s) is no account of a token, and says why', async (_name, kind, answer) => {
    Object.assign(web, { serve: answer, asked: 0 });
    const fetch = apiFetch(egress, 'default', null, AbortSignal.timeout(10_000));
    const address = web.origin;
    const error: unknown = await accountOfToken({ kind, address, fetch }, 'a-token').catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(RepositoryError);
    expect((error as RepositoryError).message).toMatch(/^127\.0\.0\.1:\d+ [^\n]{10,200}\.$/);
    expect((error as RepositoryError).message).not.toContain('a-token');
    expect(web.asked).toBe(1);
  });
});
