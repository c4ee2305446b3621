import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { hookFixture } from '../../../test/harness/hook-signing.js';
import { HookThread } from './hook-thread.js';

const MIB = 1024 * 1024;
/** Who asks. */
const WORKSPACE = 'workspace';
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
/** A list of the item that is just longer than so many bytes. */
const listOf = (item: string, bytes: number) =>
  Buffer.from(`[${Array(Math.ceil(bytes / (item.length + 1))).fill(item).join(',')}]`); // prettier-ignore

describe('The thread of the hooks (contract §13)', () => {
  const thread = new HookThread();
  afterAll(() => thread.onApplicationShutdown());

  const matches = (filter: string, body: Buffer) => thread.matches(filter, body, WORKSPACE);
  const payloadOf = async (value: unknown) => (await thread.read(json(value))).payload;
  /** Of a body above 256 KiB, which is read in the thread. */
  const longPayloadOf = async (value: object) => (await thread.read(json({ ...value, filling: 'x'.repeat(300_000) }))).payload; // prettier-ignore

  describe('reads a body', () => {
    it('and gives its hash and what it holds', async () => {
      const body = json({ action: 'opened', number: 7, draft: false, labels: [{ name: 'bug' }], closed: null });
      expect(await thread.read(body)).toEqual({
        sha256: createHash('sha256').update(body).digest('hex'),
        payload: { action: 'opened', number: 7, draft: false, labels: [{ name: 'bug' }], closed: null },
      });
    });

    it.each([
      ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'The body is not valid UTF-8.'],
      ['a form', Buffer.from('payload=%7B%7D'), 'The body is not valid JSON.'],
      ['nothing', Buffer.alloc(0), 'The body is not valid JSON.'],
      ['cut off', Buffer.from('{"action":"ope'), 'The body is not valid JSON.'],
      ['a text', Buffer.from('"text"'), 'The body must be a JSON object or a list.'],
      ['null', Buffer.from('null'), 'The body must be a JSON object or a list.'],
      [
        'cut off, and long',
        Buffer.concat([Buffer.from('["'), Buffer.alloc(300_000, 'x')]),
        'The body is not valid JSON.',
      ],
    ])('and refuses one that is %s', async (_, body, message) => {
      await expect(thread.read(body)).rejects.toMatchObject({ name: 'HookBodyError', message });
    });

    it('the same way here and in the thread', async () => {
      const value = {
        text: 'ä'.repeat(1_000),
        long: 'x'.repeat(1_001),
        ['k'.repeat(1_001)]: 1,
        one: { two: { three: { four: { five: { six: 1 }, text: 'kept' } } } },
        list: [1, [2, [3, [4, [5]]]]],
      };
      const short = await payloadOf(value);
      expect(short).toEqual({
        text: value.text,
        long: null,
        one: { two: { three: { four: { five: null, text: 'kept' } } } },
        list: [1, [2, [3, [4, null]]]],
      });
      expect(await longPayloadOf(value)).toMatchObject(short as object);
    });

    it('and what stands above is not lost for what stands below', async () => {
      const many = Array.from({ length: 20_000 }, (_, n) => ({ n }));
      const payload = (await payloadOf({ many, action: 'opened' })) as { many: unknown[]; action: string };
      expect(payload.action).toBe('opened');
      expect(payload.many.length).toBe(9_998);
    });

    it('and a key of it changes no object of the service', async () => {
      const payload = (await thread.read(Buffer.from('{"__proto__":{"polluted":1},"a":2}'))).payload as object;
      expect(Object.keys(payload)).toEqual(['__proto__', 'a']);
      expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
      expect('polluted' in {}).toBe(false);
    });

    it.each([
      [
        'as long as bodies may be',
        () => listOf(JSON.stringify(hookFixture('gitlab', 'pipeline-failed').body), 25 * MIB),
      ],
      ['of one text', () => json({ action: 'opened', text: 'x'.repeat(25 * MIB) })],
    ])(
      '%s, and the event loop goes on',
      async (_, make) => {
        const body = make();
        const { payload } = await thread.read(body);
        expect(typeof payload).toBe('object');
      },
      60_000,
    );

    it.each([
      ['three million values', () => listOf('{}', 10 * MIB), 'The body has more than 3,000,000 keys and values.'],
      [
        'a hundred levels',
        () => Buffer.from('['.repeat(12 * MIB) + ']'.repeat(12 * MIB)),
        'The body is nested deeper than 100 levels.',
      ],
    ])('and refuses one of more than %s', async (_, make, message) => {
      await expect(thread.read(make())).rejects.toMatchObject({ name: 'HookBodyError', message });
    });

    it('and counts nothing that stands in a text', async () => {
      const text = '[{,:'.repeat(300_000) + '\\"' + '"'.repeat(5);
      expect(await longPayloadOf({ a: text, b: '\\', c: 1 })).toMatchObject({ a: null, b: '\\', c: 1 });
    });
  });

  describe('asks a filter', () => {
    const event = json({
      action: 'opened',
      number: 0,
      labels: [],
      pull_request: { draft: false, base: { ref: 'main' } },
    });

    it.each([
      [`action == 'opened'`, true],
      [`pull_request.base.ref == 'main' && !(pull_request.draft)`, true],
      [`action == 'closed'`, false],
      ['labels', false],
      ['number', true],
      ['missing', false],
      ['pull_request', true],
      ['`[]`', false],
      [`length(labels) == \`0\``, true],
      [`let $ref = pull_request.base.ref in $ref == 'main'`, true],
      [`contains(@.action, 'open') | @`, true],
      ['"__proto__"', false],
    ])('%s: %s', async (filter, expected) => {
      expect(await matches(filter, event)).toBe(expected);
    });

    it('of the whole payload, not of its upper levels', async () => {
      const deep = json({ a: { b: { c: { d: { e: { f: { g: 'x'.repeat(5_000) } } } } } } });
      expect(await matches('length(a.b.c.d.e.f.g) == `5000`', deep)).toBe(true);
    });

    it('that cannot be evaluated: it says why', async () => {
      await expect(matches('length(number)', event)).rejects.toMatchObject({
        name: 'FilterError',
        message: expect.stringMatching(/^The filter cannot be evaluated\. .*length/),
      });
    });

    // Each element of the list takes all of the list, six levels deep.
    const ENDLESS = Array(6).fill(0).reduce<string>((inner) => `map(&(${inner}), $.n)`, '@'); // prettier-ignore
    const list = json({ n: Array.from({ length: 300 }, (_, n) => n) });

    it('that has no end: it is stopped after 100 ms, and the next one is asked', async () => {
      const asked = [ENDLESS, 'n', ENDLESS, '!n'].map((filter) => matches(filter, list));
      const stopped = { status: 'rejected', reason: { name: 'FilterError', message: 'The filter took longer than 100 ms and was stopped.' } }; // prettier-ignore
      expect(await Promise.allSettled(asked)).toMatchObject([
        stopped,
        { status: 'fulfilled', value: true },
        stopped,
        { status: 'fulfilled', value: false },
      ]);
    });

    it('and workspaces take turns, whatever they ask', async () => {
      const order: string[] = [];
      const ask = (filter: string, body: Buffer, share: string) =>
        thread.matches(filter, body, share).then(
          () => order.push(share),
          () => order.push(share),
        );
      const larger = json({ n: 1, filling: 'x'.repeat(5_000) });
      await Promise.all([...Array.from({ length: 4 }, () => ask(ENDLESS, list, 'a')), ask('n', larger, 'b')]);
      expect(order.slice(0, 2).sort()).toEqual(['a', 'b']);
    });

    it('of the first 65,536 characters of a text, because a search in more of them has no end', async () => {
      const body = json({ text: 'a'.repeat(2 * MIB), sought: `${'a'.repeat(MIB)}b`, ['k'.repeat(MIB)]: 1 });
      expect(await matches('length(text) == `65536` && length(sought) == `65536`', body)).toBe(true);
      expect(await matches('length(keys(@)) == `2`', body)).toBe(true);
      expect(await matches('find_last(text, sought)', body)).toBe(true);
    });

    it('of a body of 25 MiB: its 100 ms begin when the body is read', async () => {
      const body = listOf(JSON.stringify(hookFixture('gitlab', 'pipeline-failed').body), 25 * MIB);
      expect(await matches(`[-1].object_attributes.status == 'failed'`, body)).toBe(true);
    });
  });

  it('is ended when nothing was asked for five seconds, and starts again', async () => {
    const terminate = jest.spyOn(Worker.prototype, 'terminate');
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      expect(await matches('a', json({ a: 1 }))).toBe(true);
      jest.advanceTimersByTime(4_999);
      expect(terminate).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(terminate).toHaveBeenCalledTimes(1);
      expect(await matches('a', json({ a: 1 }))).toBe(true);
    } finally {
      jest.useRealTimers();
      terminate.mockRestore();
    }
  });

  it('stops with the service: what was not answered fails', async () => {
    const one = new HookThread();
    const asked = [one.matches('a', json({ a: 1 }), WORKSPACE), one.matches('b', json({ a: 1 }), WORKSPACE)];
    one.onApplicationShutdown();
    const stopped = { status: 'rejected', reason: { message: 'The service is stopping.' } };
    expect(await Promise.allSettled(asked)).toMatchObject([stopped, stopped]);
  });
});
