import { bootApp, useService } from '../harness/app.js';
import { MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { makeWorkspace, Traveller } from '../harness/sign-in.js';

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterAll(() => provider.close());

describe('Where the page goes on', () => {
  const service = useService(() => bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } }));
  beforeAll(() => makeWorkspace(service, 'acme'));

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/console/\\..\\..\\evil',
    '/console/..//evil.example/',
    '/console/%2e%2e//evil.example',
    '/console//evil.example',
    '\thttps://evil.example',
    '/console/\n//evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/v1/auth/context',
    '/consoleevil',
    '@evil.example',
    '/console/sign-in?return=/console/sign-in',
    '/console/sign-in/callback?code=1',
    '/console/session',
    `/console/${'a'.repeat(3000)}`,
  ])('is a page of the console, whatever stands in return: %j', async (page) => {
    const answer = await new Traveller(service).signIn(`?return=${encodeURIComponent(page)}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/']);
  });

  it('is the page that return names, with its query and what is behind the #', async () => {
    const page = '/console/tasks?status=failed&q=%C3%A4#part';
    const answer = await new Traveller(service).signIn(`?return=${encodeURIComponent(page)}`);
    expect(answer.headers.get('location')).toBe(page);
  });

  it('is the first page where return is given twice', async () => {
    const answer = await new Traveller(service).signIn('?return=/console/tasks&return=https://evil.example');
    expect(answer.headers.get('location')).toBe('/console/');
  });
});
