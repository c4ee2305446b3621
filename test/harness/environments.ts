import type { Answer, Client } from './client.js';

export interface EnvironmentBody {
  id: string;
  slug: string;
  name: string;
  version: number;
  repository: { url: string; ref: string | null } | null;
  setup: string[];
  variables: Record<string, string>;
  allowHosts: string[];
  secrets: string[];
  tools: Record<string, string>;
  resources: Record<string, number | null>;
  refresh: unknown;
  onFailure: string;
  checks: object[] | null;
  maxRepairs: number | null;
  mcpServers: string[] | null;
  createdBy: { id: string; name: string };
  createdAt: string;
  updatedAt: string;
}

export const ENVIRONMENTS = '/v1/environments';

export function postEnvironment<T = { environment: EnvironmentBody }>(
  client: Client,
  more: object = {},
): Promise<Answer<T>> {
  return client.post<T>(ENVIRONMENTS, { slug: 'node', ...more });
}

/** Makes one; fails unless that is answered with 201. */
export async function createEnvironment(client: Client, more: object = {}): Promise<EnvironmentBody> {
  const { status, body, text } = await postEnvironment(client, more);
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return body.environment;
}

/** Changes one; fails unless that is answered with 200. */
export async function changeEnvironment(client: Client, slug: string, json: object): Promise<EnvironmentBody> {
  const { status, body, text } = await client.patch<{ environment: EnvironmentBody }>(`${ENVIRONMENTS}/${slug}`, json);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body.environment;
}
