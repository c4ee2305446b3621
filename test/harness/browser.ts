// Speaks to the service as a browser does for the console: it keeps the cookie, and says where a request comes from.
import { ConsoleSessions } from '../../src/access/auth/console-sessions.js';
import type { TestApp } from './app.js';
import type { Member } from './client.js';

/** A path that every credential may read. */
export const WHO = '/v1/auth/context';

export interface BrowserAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed; an empty object where there is no JSON. */
  body: { error?: { code: string; message: string; param: string | null } } & Record<string, unknown>;
}

interface Asked {
  json?: unknown;
  /** Over those of a page of the service itself; an empty one is left out. */
  headers?: Record<string, string>;
}

/** One browser. Its cookie is what the last answer has set. */
export class Browser {
  /** As it is sent: `name=value`; null for none. */
  cookie: string | null = null;
  /** As it was set last, with its rules. */
  setCookie: string | null = null;

  constructor(private readonly url: string) {}

  /** Another one with the same cookie, as a copy of it would be. */
  copy(): Browser {
    return Object.assign(new Browser(this.url), { cookie: this.cookie });
  }

  async send(method: string, path: string, { json, headers = {} }: Asked = {}): Promise<BrowserAnswer> {
    const all = {
      'Sec-Fetch-Site': 'same-origin',
      ...(this.cookie === null ? {} : { Cookie: this.cookie }),
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const answer = await fetch(this.url + path, { method, headers: sent, redirect: 'manual', ...body });
    const set = answer.headers.get('set-cookie');
    if (set !== null) this.take(set);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parsed(text) };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<BrowserAnswer> {
    return this.send('GET', path, { headers });
  }

  logIn(json: object, headers: Record<string, string> = {}): Promise<BrowserAnswer> {
    return this.send('POST', '/console/session', { json, headers });
  }

  logOut(): Promise<BrowserAnswer> {
    return this.send('DELETE', '/console/session');
  }

  private take(set: string): void {
    this.setCookie = set;
    const [pair = ''] = set.split(';');
    this.cookie = set.includes('Max-Age=0') ? null : pair;
  }
}

function parsed(text: string): BrowserAnswer['body'] {
  try {
    return JSON.parse(text) as BrowserAnswer['body'];
  } catch {
    return {};
  }
}

/** A browser that is logged in with the key of a member. */
export async function loggedIn({ url }: TestApp, { key }: Pick<Member, 'key'>): Promise<Browser> {
  const browser = new Browser(url);
  expect((await browser.logIn({ key: key.secret })).status).toBe(204);
  return browser;
}

export const works = async (browser: Browser): Promise<boolean> => (await browser.get(WHO)).status === 200;

/** A code as the operator makes it. */
export async function codeFor({ app }: TestApp, { key }: Pick<Member, 'key'>): Promise<string> {
  const { code } = await app.get(ConsoleSessions, { strict: false }).addCode(key.id);
  return code;
}

/** How many sessions and codes the database has of a key. */
export async function storedOf({ db }: TestApp, { key }: Pick<Member, 'key'>): Promise<[number, number]> {
  const count = async (table: string) =>
    (await db.query<object>(`SELECT 1 FROM ${table} WHERE key_id = $1`, [key.id])).length;
  return [await count('console_sessions'), await count('console_codes')];
}
