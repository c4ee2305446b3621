import { useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';
import { createTask } from '../harness/tasks.js';

describe('Conditions and ranges are for the content of files, and conditions for a task (reference §4, §7)', () => {
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

  it('a task has a weak tag: 304 as long as its answer is the same, charged like any other request (reference §4)', async () => {
    const { id } = await createTask(client, { content: 'x' });
    const first = await client.get(`/v1/tasks/${id}`);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const given of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const again = await client.get(`/v1/tasks/${id}`, { headers: { 'If-None-Match': given } });
      expect([given, again.status, again.text, again.headers.get('etag')]).toEqual([given, 304, '', tag]);
      expect(again.headers.get('x-ratelimit-policy')).toBe('resource_read');
    }
    await client.patch(`/v1/tasks/${id}`, { title: 'Another' });
    const changed = await client.get(`/v1/tasks/${id}`, { headers: { 'If-None-Match': tag } });
    expect([changed.status, changed.headers.get('etag') === tag]).toEqual([200, false]);
  });

  it('an error on a page is JSON like any other', async () => {
    for (const path of ['/docs', '/metrics']) {
      const { status, headers, body } = await client.delete<ErrorBody>(path);
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
