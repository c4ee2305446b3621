import type { Client } from './client.js';
import { until } from './until.js';

export const ENVIRONMENTS = '/v1/environments';

export interface BuildBody {
  id: string;
  version: number;
  key: string;
  driver: string;
  state: 'building' | 'ready' | 'failed';
  files: number;
  bytes: number;
  log: string;
  error: string | null;
  createdAt: string;
  finishedAt: string | null;
}

let made = 0;

/** Makes an environment with a slug of its own, and resolves with that. */
export async function createBox(client: Client, definition: object): Promise<string> {
  const slug = `box-${++made}`;
  const { status, text } = await client.post(ENVIRONMENTS, { slug, ...definition });
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return slug;
}

/** Newest first. */
export async function buildsOf(client: Client, slug: string): Promise<BuildBody[]> {
  const { status, body, text } = await client.get<{ builds: BuildBody[] }>(`${ENVIRONMENTS}/${slug}/builds`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body.builds;
}

/** The newest build, as soon as it has this state. */
export function buildBecomes(client: Client, slug: string, state: BuildBody['state']): Promise<BuildBody> {
  const has = async () => {
    const [newest] = await buildsOf(client, slug);
    return newest?.state === state ? newest : null;
  };
  return until(`the build of ${slug} to be ${state}`, has, { within: 150_000 });
}
