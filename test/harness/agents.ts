import type { Answer, Client } from './client.js';

export interface AgentBody {
  id: string;
  slug: string;
  name: string;
  description: string;
  version: number;
  default: boolean;
  channels: Record<string, number>;
  instructions: string;
  model: string | null;
  approvals: string;
  archived: boolean;
  createdBy: { id: string; name: string };
}

export const AGENTS = '/v1/agents';

export function postAgent<T = { agent: AgentBody }>(client: Client, more: object = {}): Promise<Answer<T>> {
  return client.post<T>(AGENTS, { slug: 'reviewer', ...more });
}

/** Makes one; fails unless that is answered with 201. */
export async function createAgent(client: Client, more: object = {}): Promise<AgentBody> {
  const { status, body, text } = await postAgent(client, more);
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return body.agent;
}

/** Changes one as it is now; fails unless that is answered with 200. */
export async function changeAgent(client: Client, slug: string, json: object): Promise<AgentBody> {
  const { version } = (await client.get<{ agent: AgentBody }>(`${AGENTS}/${slug}`)).body.agent;
  const { status, body, text } = await client.patch<{ agent: AgentBody }>(`${AGENTS}/${slug}`, { version, ...json });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body.agent;
}
