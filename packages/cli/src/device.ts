// How a person lets this command in from the console, without a key that is copied (reference §31).
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError } from '@millwright/sdk';
import { UsageError } from './line.js';

interface Begun {
  deviceCode: string;
  userCode: string;
  verificationUrl: string;
  expiresIn: number;
  interval: number;
}
interface Answer {
  key?: string;
  error?: { code: string; message: string };
}

const post = (url: string, path: string, body: object) =>
  fetch(new URL(path, `${url}/`), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/**
 * Shows a code, waits until a person has approved it in the console, and resolves with the key.
 * @returns null where the service has no sign-in. Rejects when the person says no or does not come.
 */
export async function keyByDevice(url: string): Promise<string | null> {
  const answer = await post(url, 'console/device', {}).catch((cause: unknown) => {
    throw new ConnectionError(`${url} does not answer. Is it the address of the service? --url names another one.`, {
      cause,
    });
  });
  if (answer.status === 404 || answer.status === 405) return null;
  const begun = (await answer.json().catch(() => ({}))) as Begun & Answer;
  if (!answer.ok) throw new UsageError(begun.error?.message ?? `${url} answers ${answer.status}.`);
  const { deviceCode, userCode, verificationUrl } = begun;
  console.error(`Open ${verificationUrl} and type ${userCode}\nWaiting …`);
  let seconds = begun.interval;
  for (;;) {
    await delay(seconds * 1000);
    // The service may be away for a moment: the code outlasts that.
    const asked = await post(url, 'console/device/token', { deviceCode }).catch(() => null);
    if (asked === null || asked.status >= 500) continue;
    const { key, error } = (await asked.json()) as Answer;
    if (key !== undefined) return key;
    if (error?.code === 'slow_down' || asked.status === 429) seconds += 5;
    else if (error?.code !== 'authorization_pending')
      throw new UsageError(error?.message ?? 'Nobody let this command in.');
  }
}
