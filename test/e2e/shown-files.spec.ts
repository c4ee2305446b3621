import sharp from 'sharp';
import type { ModelInfo } from '../../src/engine/models/model-provider.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { pdf, png } from '../harness/pictures.js';
import { PROVIDER_KINDS, type ProviderAnswer, ProviderServer } from '../harness/provider-server.js';
import { createTask, finished, readMessages, readResults } from '../harness/tasks.js';

describe('Pictures and PDF files that a model is shown (reference §15)', () => {
  let provider: ProviderServer;
  let member: Member;
  /** 2,000 × 1,000 pixels in many colours. */
  let photo: Buffer<ArrayBuffer>;

  const service = useService(async () => {
    provider = await ProviderServer.start();
    const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };
    const model = (id: string, kind: string, input: ModelInfo['input']) => ({
      id,
      provider: kind,
      baseUrl: provider.url,
      input,
    });
    const seeing = PROVIDER_KINDS.map((kind) => model(kind, kind, ['text', 'image', 'file']));
    return bootWorker({
      env: { ...keys, LEASE_SECONDS: '600' },
      config: { models: [...seeing, model('blind', 'openai-compatible', ['text'])] },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 20 };
    const create = { width: 2_000, height: 1_000, channels: 3 as const, background: '#000', noise };
    photo = Buffer.from(await sharp({ create }).png().toBuffer());
  });
  afterAll(() => provider.stop());

  const attachments = async (...files: [string, Buffer<ArrayBuffer>][]) => {
    const made = await Promise.all(files.map(([name, bytes]) => upload(service, member, bytes, { name })));
    return made.map(({ id }) => ({ uploadId: id }));
  };
  const read = (...paths: string[]): ProviderAnswer => ({
    calls: paths.map((path) => ({ name: 'read', arguments: JSON.stringify({ path }) })),
  });
  /** Answers one after another, for whole tasks. */
  const play = (...answers: ProviderAnswer[]) => {
    provider.requests.length = 0;
    provider.script = () => answers[provider.requests.length - 1] ?? { text: 'Done.' };
  };
  /** The pictures and PDF files in a request, in its order. */
  const shownIn = (request: number) =>
    [
      ...(provider.requests[request]?.pieces.join('\n') ?? '').matchAll(/(iVBORw0KGgo|\/9j\/|JVBERi0)[A-Za-z0-9+/=]*/g),
    ].map(([base64]) => Buffer.from(base64, 'base64'));

  it.each(PROVIDER_KINDS)(
    '%s: attachments and what it reads, scaled down, the same bytes with each request and after a further message',
    async (model) => {
      const { client } = member;
      const report = pdf(model);
      play(read('attachments/photo.png', 'attachments/report.pdf'), { text: 'Seen.' }, { text: 'Still seen.' });
      const files = await attachments(['photo.png', photo], ['report.pdf', report]);
      const { id } = await createTask(client, { content: 'Look.', attachments: files, model });
      expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Seen.' } });
      await client.post(`/v1/tasks/${id}/messages`, { content: 'And now?' });
      expect(await finished(client, id)).toMatchObject({ status: 'completed' });

      const [first = [], second = [], third = []] = [0, 1, 2].map(shownIn);
      expect([first.length, second.length, third.length]).toEqual([2, 4, 4]);
      expect(await sharp(first[0]).metadata()).toMatchObject({ width: 1_568, height: 784 });
      expect(first[1]?.equals(report)).toBe(true);
      const same = [first[0], report, first[0], report];
      for (const request of [second, third]) {
        expect(request.map((bytes, index) => bytes.equals(same[index] ?? Buffer.alloc(0)))).toEqual([
          true,
          true,
          true,
          true,
        ]);
      }
      const pieces = provider.requests.map((request) => request.pieces);
      for (const [index, before] of pieces.slice(0, -1).entries()) {
        expect(pieces[index + 1]?.slice(0, before.length)).toEqual(before);
      }

      const [picture, document] = await readResults(client, id);
      expect(picture?.output).toMatch(
        /^attachments\/photo\.png is a picture \(image\/png, \d+ bytes\)\. It has 2000 × 1000 pixels; you are shown it with 1568 × 784\.$/,
      );
      expect(document?.output).toMatch(/^attachments\/report\.pdf is a PDF \(application\/pdf, \d+ bytes\)\. You are/);
      // What is kept for the model is no file of the task, and no bytes are in a row.
      const { body } = await client.get<{ files: { id: string; name: string; origin: string }[] }>(
        `/v1/tasks/${id}/files`,
      );
      expect(body.files.map(({ name, origin }) => [name, origin]).sort()).toEqual([
        ['photo.png', 'attachment'],
        ['report.pdf', 'attachment'],
      ]);
      const [row] = await service.db.query<{ id: string; kept: number; longest: number }>(
        `SELECT (array_agg(f.id))[1] AS id, count(*)::int AS kept,
           (SELECT max(length(v::text)) FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1)::int AS longest
         FROM files f WHERE f.task_id = $1 AND f.origin = 'shown'`,
        [id],
      );
      expect(row).toMatchObject({ kept: 2 });
      expect(row?.longest).toBeLessThan(2_000);
      expect((await client.get(`/v1/files/${row?.id}`)).status).toBe(404);
      expect((await client.get(`/v1/files/${row?.id}/content`)).status).toBe(404);
    },
    60_000,
  );

  it('a model that takes no pictures is told so, of attachments and by `read`', async () => {
    const { client } = member;
    play(read('attachments/photo.png', 'attachments/report.pdf'));
    const files = await attachments(['photo.png', photo], ['report.pdf', pdf('blind')]);
    const { id } = await createTask(client, { content: 'Look.', attachments: files, model: 'blind' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    const said = provider.requests[0]?.pieces.join('\n');
    expect(said).toContain('attachments/photo.png (image/png)]\\n[Not shown: this model takes no pictures.]');
    expect(said).toContain('[Not shown: this model takes no PDF files.]');
    expect([0, 1].map((request) => shownIn(request).length)).toEqual([0, 0]);
    expect(await readResults(client, id)).toMatchObject([
      {
        status: 'error',
        error: expect.stringMatching(/photo\.png is a picture .*, and this model takes no pictures\./),
      },
      { status: 'error', error: expect.stringMatching(/report\.pdf is a PDF .*, and this model takes no PDF files\./) },
    ]);
  });

  it('files that a provider refuses are told in words from then on, also those that `read` showed', async () => {
    const { client } = member;
    const steps: ProviderAnswer[] = [{ text: 'No file.' }, read('attachments/other.pdf'), { text: 'No file again.' }];
    let step = 0;
    provider.requests.length = 0;
    provider.script = ({ pieces }) =>
      pieces.join('').includes('JVBERi0')
        ? { refusal: 'Could not process PDF.' }
        : (steps[step++] ?? { text: 'Done.' });
    const files = await attachments(['report.pdf', pdf('refused')], ['other.pdf', pdf('refused too')]);
    const { id } = await createTask(client, { content: 'Look.', attachments: files, model: 'anthropic' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'No file.' } });
    for (const content of ['And now?', 'And then?']) {
      await client.post(`/v1/tasks/${id}/messages`, { content });
      expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    }
    // Asked, refused and asked again; the message with the call; its result refused and told; the last message.
    expect([0, 1, 2, 3, 4, 5].map((request) => shownIn(request).length)).toEqual([2, 0, 0, 1, 0, 0]);
    const told = [1, 2, 4, 5].map((index) => provider.requests[index]?.pieces ?? []);
    expect(told[0]?.join('')).toContain("[Not shown: the model's provider refused a request with it.]");
    for (const [index, before] of told.slice(0, -1).entries()) {
      expect(told[index + 1]?.slice(0, before.length)).toEqual(before);
    }
  });

  it('a request that is refused for something else is refused, and its files stay', async () => {
    const { client } = member;
    play({ refusal: 'No.' }, { refusal: 'No.' }, { text: 'Seen.' });
    const files = await attachments(['report.pdf', pdf('stays')]);
    const { id } = await createTask(client, { content: 'Look.', attachments: files, model: 'anthropic' });
    expect(await finished(client, id)).toMatchObject({ status: 'failed', statusReason: { code: 'model_error' } });
    await client.post(`/v1/tasks/${id}/messages`, { content: 'Again.' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Seen.' } });
    expect([0, 1, 2].map((request) => shownIn(request).length)).toEqual([1, 0, 1]);
  });

  it('a picture of 400 million pixels is not decoded, and the task goes on', async () => {
    const { client } = member;
    play(read('attachments/bomb.png'), { text: 'It is too large.' });
    const files = await attachments(['bomb.png', png(20_000, 20_000)]);
    const { id } = await createTask(client, { content: 'Look.', attachments: files, model: 'anthropic' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'It is too large.' } });
    const why = 'it has 20000 × 20000 pixels, and at most 50 million pixels are decoded';
    expect(provider.requests[0]?.pieces.join('\n')).toContain(`[Not shown: ${why}.]`);
    expect(await readResults(client, id)).toMatchObject([{ status: 'error', error: expect.stringContaining(why) }]);
  });

  it('of 25 attached pictures the 20 newest are shown', async () => {
    const { client } = member;
    const pictures = Array.from({ length: 25 }, (_, n): [string, Buffer<ArrayBuffer>] => [`${n}.png`, png(n + 1, 1)]);
    play({ text: 'Twenty.' }, { text: 'Twenty of 25.' });
    const first = await attachments(...pictures.slice(0, 20));
    const { id } = await createTask(client, { content: 'Look.', attachments: first, model: 'openai' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    const more = await attachments(...pictures.slice(20));
    await client.post(`/v1/tasks/${id}/messages`, { content: 'And these.', attachments: more });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    const widths = async (request: number) => {
      const heads = await Promise.all(shownIn(request).map((bytes) => sharp(bytes).metadata()));
      return heads.map(({ width }) => width);
    };
    expect(await widths(0)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(await widths(1)).toEqual(Array.from({ length: 20 }, (_, n) => n + 6));
    expect(provider.requests[1]?.pieces.join('\n')).toContain('[Not shown: newer files took its place');
  });

  it('a deleted task takes with it what its results showed', async () => {
    const { client } = member;
    play(read('attachments/photo.png'));
    const { id } = await createTask(client, {
      content: 'Look.',
      attachments: await attachments(['photo.png', photo]),
      model: 'anthropic',
    });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    expect((await readMessages(client, id)).length).toBeGreaterThan(1);
    const kept = () => service.db.query(`SELECT FROM files WHERE task_id = $1`, [id]);
    expect(await kept()).toHaveLength(2);
    await client.delete(`/v1/tasks/${id}`);
    expect(await kept()).toEqual([]);
  });
});
