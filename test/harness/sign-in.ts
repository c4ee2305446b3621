// A browser that goes to the provider and back, one address after the other, and keeps its cookies.
import type { TestApp } from './app.js';
import { WHO } from './browser.js';

/** What the page is told of a refusal: what stands behind `#sign-in=`. */
export const reasonIn = (location: string | null): string | null => /#sign-in=(\w+)$/.exec(location ?? '')?.[1] ?? null;

export class Traveller {
  readonly cookies = new Map<string, string>();

  constructor(private readonly service: { url: string }) {}

  /** Goes to an address of the service, or sends something there, and follows nothing. */
  async go(
    path: string,
    { method = 'GET', json, headers = {} }: { method?: string; json?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(new URL(path, this.service.url), {
      method,
      redirect: 'manual',
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        ...(cookie === '' ? {} : { Cookie: cookie }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    for (const set of answer.headers.getSetCookie()) this.take(set);
    return answer;
  }

  /** Begins a sign-in: the address of the provider's page. */
  async begin(query = ''): Promise<URL> {
    const { status, headers } = await this.go(`/console/sign-in${query}`);
    expect(status).toBe(303);
    return new URL(headers.get('location') ?? '', this.service.url);
  }

  /** Goes to the provider, which sends it back: the address of the callback. */
  async visit(provider: URL): Promise<URL> {
    const answer = await fetch(provider, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? 'about:blank');
  }

  /** All of it. Resolves with the answer of the callback. */
  async signIn(query = ''): Promise<Response> {
    const back = await this.visit(await this.begin(query));
    return this.go(back.pathname + back.search);
  }

  /** Whether `GET /v1/auth/context` knows it. */
  async who(): Promise<{
    status: number;
    body: {
      user: { id: string; name: string; email: string };
      workspace: { id: string; slug: string; role: string };
      scopes: string[];
      credential: { id: string; name: string; expiresAt: string };
    };
  }> {
    const answer = await this.go(WHO);
    return { status: answer.status, body: (await answer.json()) as never };
  }

  /** The cookie of the session, null without one. */
  get session(): string | null {
    const found = [...this.cookies].find(([name]) => /^(__Host-)?millwright_[0-9a-f]+$/.test(name));
    return found === undefined ? null : found[1];
  }

  private take(set: string): void {
    const [pair = ''] = set.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (/Max-Age=0(;|$)/.test(set)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** How many rows there are of all that a sign-in may make. */
export async function madeIn({ db }: Pick<TestApp, 'db'>): Promise<Record<string, number>> {
  const tables = ['users', 'sign_in_identities', 'memberships', 'api_keys', 'console_sessions', 'audit_log'];
  const counts = await Promise.all(
    tables.map(async (table) => {
      const [row] = await db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
      return [table, row?.count ?? -1] as const;
    }),
  );
  return Object.fromEntries(counts);
}

/** A workspace with this slug. Resolves with its id. */
export async function makeWorkspace({ db }: Pick<TestApp, 'db'>, slug: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `INSERT INTO workspaces (id, slug, name, plan) VALUES (gen_random_uuid(), $1, $1, 'paid') RETURNING id`,
    [slug],
  );
  return row?.id ?? '';
}

/** A person as the operator makes one, with a role in a workspace. */
export async function makePerson(
  { db }: Pick<TestApp, 'db'>,
  email: string,
  workspaceId?: string,
  role = 'member',
): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `INSERT INTO users (id, email, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id`,
    [email],
  );
  const id = row?.id ?? '';
  if (workspaceId !== undefined)
    await db.query('INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)', [
      workspaceId,
      id,
      role,
    ]);
  return id;
}
