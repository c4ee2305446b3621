// A command that waits to be let in (reference §31).
import { failureOf, observed } from './client.ts';

export interface WaitingDevice {
  /** From where it has asked; null where nobody knows. */
  address: string | null;
  createdAt: string;
  scopes: string[];
  /** When its key ends; null for never. */
  keyExpiresAt: string | null;
}

async function post(body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const response = await observed('/console/device/code', { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw await failureOf(response);
  return response;
}

/** What waits under a code. Throws what the service says. */
export const lookAtDevice = async (userCode: string) => (await (await post({ userCode })).json()) as WaitingDevice;

/** Lets it in, or tells it no. Throws what the service says. */
export const decideDevice = (userCode: string, approved: boolean) => post({ userCode, approved });
