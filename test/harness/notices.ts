// What a member does with the notices that reach people outside of the page.
import type { Answer, Client } from './client.js';
import type { TestBrowser } from './push-service.js';

export interface NoticesBody {
  needsYou: string[];
  finished: string[];
  failed: string[];
  hookUrl: string | null;
  quiet: { from: string; to: string; timezone: string } | null;
  detail: boolean;
  push: { publicKey: string; subscriptions: number };
  email: string | null;
}

/** Of the table. */
export interface NoticeRow {
  id: string;
  kind: string;
  channel: string;
  status: string;
  attempts: number;
  dueAt: Date;
}

export const putNotices = <T = NoticesBody>(client: Client, json: object): Promise<Answer<T>> =>
  client.request<T>('PUT', '/v1/notices', { json });

export const readNotices = async (client: Client): Promise<NoticesBody> =>
  (await client.get<NoticesBody>('/v1/notices')).body;

/** Fails unless it is answered with 200. */
export async function setNotices(client: Client, json: object): Promise<NoticesBody> {
  const { status, text, body } = await putNotices(client, json);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body;
}

/** Fails unless it is answered with 200. Resolves with how many browsers there are. */
export async function subscribe(client: Client, { subscription }: TestBrowser): Promise<number> {
  const answer = await client.post<{ push: { subscriptions: number } }>('/v1/notices/push', subscription);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.push.subscriptions;
}

export const unsubscribe = (client: Client, { subscription: { endpoint } }: TestBrowser) =>
  client.delete<{ push: { subscriptions: number } }>(`/v1/notices/push?endpoint=${encodeURIComponent(endpoint)}`);
