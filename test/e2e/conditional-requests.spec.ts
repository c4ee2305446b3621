import { useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';

describe('Conditions and ranges are for the content of files alone (reference §7)', () => {
  let client: Client;

  const service = useService();
  beforeAll(async () => {
    client = (await makeMember(service)).client;
  });

  it.each(['/v1/auth/context', '/v1/tasks', '/openapi.json', '/docs', '/docs/page.js', '/docs/swagger-ui.css'])(
    'GET %s answers 200 with a body, whatever the client has',
    async (path) => {
      for (const [name, value] of [['If-None-Match', '*'], ['If-Match', '"x"'], ['Range', 'bytes=0-0'], ['Range', 'bytes=99999999-']] as const) {
        const { status, text } = await client.get(path, { headers: { [name]: value } });
        expect([name, value, status]).toEqual([name, value, 200]);
        expect(text.length).toBeGreaterThan(1);
      }
    },
  ); // prettier-ignore

  it('an error on a page is JSON like any other', async () => {
    for (const path of ['/docs', '/metrics']) {
      const { status, headers, body } = await client.request<ErrorBody>('DELETE', path);
      expect([path, status, headers.get('content-type')]).toEqual([path, 405, 'application/json; charset=utf-8']);
      expect(body.error.code).toBe('method_not_allowed');
    }
    for (const path of ['/docs', '/metrics', '/openapi.json']) {
      // Not by fetch, which sends no body with a GET.
      const answer = await rawRequest(service.url, [`GET ${path} HTTP/1.1`, 'Content-Length: 5'], '{"a":');
      expect([path, answer.status]).toEqual([path, 400]);
      expect(answer.headers).toContain('Content-Type: application/json; charset=utf-8');
      expect((JSON.parse(answer.body) as ErrorBody).error.code).toBe('invalid_body');
    }
  });
});
