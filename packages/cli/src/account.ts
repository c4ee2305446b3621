// Where the service is, and as whom: from the environment, else from what `login` has kept.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ClientOptions, Millwright } from '@millwright/sdk';
import { keyByDevice } from './device.js';
import { UsageError, type Line } from './line.js';
import { plain } from './terminal.js';

interface Account {
  url: string;
  apiKey: string;
}

const DEFAULT_URL = 'http://127.0.0.1:3000';
const { env } = process;

function accountFile(): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'millwright', 'account.json');
}

function kept(): Partial<Account> {
  try {
    return JSON.parse(readFileSync(accountFile(), 'utf8')) as Account;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`${accountFile()} cannot be read: ${(error as Error).message}`);
  }
}

/** Where the service is, for what needs no key. */
export const serviceUrl = (): string => env['MILLWRIGHT_URL'] || kept().url || DEFAULT_URL;

/** The client that all verbs but `login` use. */
export const client = (): Millwright => new Millwright(ownOptions());

/** Where the service is, and as whom, for a client. */
export function ownOptions(): ClientOptions {
  const account = env['MILLWRIGHT_API_KEY'] && env['MILLWRIGHT_URL'] ? {} : kept();
  const apiKey = env['MILLWRIGHT_API_KEY'] || account.apiKey;
  if (!apiKey) throw new UsageError("No key: 'mw login' asks for one and keeps it, or set MILLWRIGHT_API_KEY.");
  return optionsOf(env['MILLWRIGHT_URL'] || account.url || DEFAULT_URL, apiKey);
}

/** Of a client that says at once that the service does not answer: it is tried again for some seconds. */
function optionsOf(baseUrl: string, apiKey: string): ClientOptions {
  checkUrl(baseUrl);
  // Anything else cannot stand in a header.
  if (!/^[!-~]+$/.test(apiKey)) throw new UsageError('The key has characters that no key has.');
  let said = false;
  const telling: typeof fetch = async (input, init) => {
    try {
      const response = await fetch(input, init);
      said = false;
      return response;
    } catch (error) {
      if (!said && init?.signal?.aborted !== true) console.error(`${baseUrl} does not answer. Trying again …`);
      said = true;
      throw error;
    }
  };
  return { apiKey, baseUrl, fetch: telling };
}

function checkUrl(url: string): void {
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is no URL of a service.`);
}

export async function login(line: Line): Promise<number> {
  const url = line.text('url') ?? (env['MILLWRIGHT_URL'] || kept().url || DEFAULT_URL);
  checkUrl(url);
  // A key that is piped in is taken as it is; at a terminal a person lets the command in, where people sign in.
  const byDevice = line.has('device') || (process.stdin.isTTY && !line.has('key'));
  const apiKey = (byDevice ? await keyByDevice(url) : null) ?? (await askForKey(url));
  if (apiKey === '') throw new UsageError('No key was given.');
  const context = await new Millwright(optionsOf(url, apiKey)).auth.context();
  const file = accountFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A new file, so that its mode holds from its first byte on.
  writeFileSync(`${file}.new`, `${JSON.stringify({ url, apiKey })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  const { user, workspace } = context;
  if (line.json) console.log(JSON.stringify({ url, user, workspace }));
  else
    console.error(plain(`Logged in at ${url} as ${user.name}, workspace ${workspace.name}. The key lies in ${file}.`));
  return 0;
}

/** From a terminal without an echo, else the first line of standard input. */
async function askForKey(url: string): Promise<string> {
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write(`Key for ${url}: `);
  // With `terminal` and no output it reads raw: nothing is echoed.
  const lines = createInterface({ input: stdin, terminal: stdin.isTTY });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
}
