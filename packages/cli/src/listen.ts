// The events of a workspace, printed, or posted to a receiver on this machine as a webhook would be.
import { createHmac, randomBytes } from 'node:crypto';
import type { WorkspaceEvent } from '@millwright/sdk';
import { client } from './account.js';
import { Interrupted, untilInterrupted } from './interrupts.js';
import { UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';

export const listen: Verb = {
  words: [],
  options: { types: 'text', forward: 'text' },
  async run(line) {
    const forward = line.text('forward');
    if (forward !== undefined && !URL.canParse(forward)) throw new UsageError(`--forward ${forward} is no URL.`);
    const key = randomBytes(32);
    if (forward !== undefined) console.error(`Signed with whsec_${key.toString('base64')}`);
    const { signal, done } = untilInterrupted(() => undefined);
    const types = line.text('types')?.split(',');
    try {
      for await (const event of client().events({ signal, ...(types && { types }) })) {
        console.log(line.json ? JSON.stringify(event) : `${event.createdAt}  ${event.type}  ${event.taskId ?? ''}`);
        if (forward !== undefined) await post(forward, event, key, signal);
      }
      return 0;
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      throw error;
    } finally {
      done();
    }
  },
};

/** How long the service waits for an answer. */
const ANSWER_MS = 15_000;

/** A webhook is told no words of a task. */
function withoutWords(name: string, value: unknown): unknown {
  if (!['statusReason', 'reason'].includes(name) || typeof value !== 'object' || value === null) return value;
  return { ...value, message: 'The words of a reason are not sent; the service has them.' };
}

/** Standard Webhooks 1.0, as the service posts (reference §18). One attempt: what it answers is told. */
async function post(url: string, event: WorkspaceEvent, key: Buffer, signal: AbortSignal): Promise<void> {
  const { id, type, createdAt, seq, taskId, data } = event;
  const told = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutWords(name, value)]));
  const body = JSON.stringify({ id, type, timestamp: createdAt, data: { ...told, taskId, seq } });
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      redirect: 'manual',
    });
    console.error(`  ${status} ${url}`);
  } catch (error) {
    if (signal.aborted) throw error;
    console.error(plain(`  ${url} cannot be reached: ${(error as Error).message}`));
  }
}
