import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import type { Request, Response } from 'express';
import { notesOf } from './request-notes.js';
import { RequestSlots } from './request-slots.js';

const MANY = 50;

interface Sent {
  req: Request;
  res: Response;
  looked: boolean;
}

class Answer extends EventEmitter {
  destroyed = false;
  bytes = 0;
  getHeader(): number {
    return this.bytes;
  }
  end(): void {}
}

describe('Requests are looked at in turns (docs/operating.md, Walls)', () => {
  const turns = new RequestSlots();
  turns.watch(Answer.prototype as unknown as Response);

  /** Requests of one moment, one for each credential. */
  const send = async (credentials: string[], ip: string): Promise<Sent[]> => {
    const sent = credentials.map((authorization) => {
      const req = { ip, headers: { authorization } } as unknown as Request;
      const res = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as Response;
      const one: Sent = { req, res, looked: false };
      void turns.arrive(req, res).then(
        () => (one.looked = true),
        () => undefined,
      );
      return one;
    });
    await rounds();
    return sent;
  };
  const rounds = async () => {
    for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  };
  const close = (one: Sent) => {
    Object.assign(one.res, { destroyed: true });
    one.res.emit('close');
  };
  /** Reads of one moment, of a workspace that has been let in. */
  const read = async (workspaceId: string, count: number): Promise<Sent[]> => {
    const sent = Array.from({ length: count }, () => {
      const req = {} as Request;
      Object.assign(notesOf(req), { workspaceId });
      const one: Sent = { req, res: Object.assign(new Answer(), { req }) as unknown as Response, looked: false };
      void turns.read(req, one.res).then(
        () => (one.looked = true),
        () => undefined,
      );
      return one;
    });
    await rounds();
    return sent;
  };
  const answer = (one: Sent | undefined, bytes: number) => {
    Object.assign(one?.res ?? {}, { bytes });
    one?.res.end();
  };
  const lookedAt = (sent: Sent[]) => sent.filter(({ looked }) => looked).length;
  const ofKey = (name: string) => Array<string>(MANY).fill(`Bearer ${name}`);
  const ofMany = (count: number) => Array.from({ length: count }, (_, n) => `Bearer ${n}`);

  it('of one credential 32 at once, and those of another one do not wait for them', async () => {
    const greedy = await send(ofKey('greedy'), '127.0.0.1');
    expect(lookedAt(greedy)).toBe(32);
    const [other] = await send(['Bearer other'], '127.0.0.1');
    expect(other?.looked).toBe(true);
    // One is let in, and one is refused.
    greedy.filter(({ looked }) => looked).slice(0, 1).forEach(({ req }) => turns.arrived(req)); // prettier-ignore
    greedy.filter(({ looked }) => looked).slice(1, 2).forEach(close); // prettier-ignore
    await rounds();
    expect(lookedAt(greedy)).toBe(34);
  });

  it('of one address 64 at once, whatever their credentials, and those of another one do not wait for them', async () => {
    const guessing = await send(ofMany(100), '127.0.0.2');
    expect(lookedAt(guessing)).toBe(64);
    expect(lookedAt(await send(ofMany(10), '127.0.0.3'))).toBe(10);
  });

  it('after an answer of more than 128 KiB two reads of the workspace go on at once, and those of another one do not wait', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const workspaceId = 'a workspace with long answers';
    const sent = await read(workspaceId, 40);
    const answerAll = async () => {
      sent.splice(0, lookedAt(sent)).forEach((one) => answer(one, 100));
      await rounds();
    };
    expect(lookedAt(sent)).toBe(10);
    answer(sent[0], 200 * 1024);
    await answerAll();
    expect(lookedAt(sent)).toBe(2);
    await answerAll();
    expect(lookedAt(sent)).toBe(2);
    expect(lookedAt(await read('another workspace', 10))).toBe(10);
    now.mockReturnValue(2_001);
    await answerAll();
    expect(lookedAt(sent)).toBe(10);
    now.mockRestore();
    while (sent.length > 0) await answerAll();
  });

  it('one whose client has left is not looked at, and its turn goes to the next', async () => {
    const sent = await send(ofKey('leaving'), '127.0.0.4');
    sent.slice(32, 49).forEach(close);
    sent.slice(0, 32).forEach(({ req }) => turns.arrived(req));
    for (let n = 0; n < 10; n++) await rounds();
    expect(lookedAt(sent)).toBe(33);
    expect(sent.at(-1)?.looked).toBe(true);
  });
});
