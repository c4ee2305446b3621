// What tenant A follows.
import { request, type IncomingMessage } from 'node:http';
import type { Attack } from './attack.js';
import type { TenantA } from './tenant-a.js';

/** Keys that follow, each with as many streams as a key may have and some more: together the 200 of a workspace. */
const FOLLOWERS = 10;
const OF_KEY = 22;
/** So many commands in each of three tasks, which write without a pause. */
const COMMANDS = 20;

export const STREAM_ATTACKS: Attack[] = [
  {
    name: 'streams',
    keys: FOLLOWERS,
    what: '220 streams, of which 200 may be open, of three tasks that write without a pause; a third of them is never read',
    wave: async (a) => {
      const content = Array.from({ length: COMMANDS }, (_, n) => `\`\`\`bash\nseq ${n} 400; sleep 0.1; seq ${n} 400 >&2\n\`\`\``);
      const ids = await Promise.all([1, 2, 3].map(() => a.task(content.join('\n\n'))));
      const streams = a.followers.flatMap((secret, k) =>
        Array.from({ length: OF_KEY }, (_, n) => stream(a, secret, pathOf(ids[(k + n) % ids.length] ?? null, n), n % 3 > 0)),
      );
      try {
        const statuses = await Promise.all(streams.map(({ status }) => status));
        const open = statuses.filter((status) => status === 200).length;
        if (open !== FOLLOWERS * 20) throw new Error(`${open} streams are open, and ${statuses.filter((one) => one === 429).length} were refused.`);
        await Promise.all(
          Array.from({ length: 60 }, (_, n) => a.post(`/v1/tasks/${ids[n % ids.length]}/messages`, { content: `Note ${n}.`, mode: 'steer' })),
        );
        await a.over();
      } finally {
        for (const { end } of streams) end();
      }
    },
  },
]; // prettier-ignore

/** Of a task with all that is passed on, or of the workspace from its beginning. */
function pathOf(id: string | null, n: number): string {
  if (n % 5 === 0 || id === null) return '/v1/events?after=0';
  return `/v1/tasks/${id}/events?deltas=true`;
}

/** A stream whose answer is thrown away, or never taken. `status`: 0 without an answer. */
function stream({ url }: TenantA, secret: string, path: string, reads: boolean): { status: Promise<number>; end: () => void } {
  const headers = { Authorization: `Bearer ${secret}`, Accept: 'text/event-stream' };
  const call = request(url + path, { headers, agent: false });
  const status = new Promise<number>((resolve) => {
    call.once('response', (answer: IncomingMessage) => {
      answer.on('error', () => undefined);
      if (reads || answer.statusCode !== 200) answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    call.on('error', () => resolve(0));
  });
  call.end();
  return { status, end: () => call.destroy() };
} // prettier-ignore
