import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { workdirsOf } from '../../src/operator/backup/workdirs.js';
import { Client } from '../harness/client.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { emptyDatabase, type NewDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone, processesWith } from '../harness/processes.js';
import { createSecret } from '../harness/secrets.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finishedLater, readResults, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { AuthorityFile, WebHosts } from '../harness/web-hosts.js';
import { createWebhook, HERE, Receiver } from '../harness/webhooks.js';
import { Oracle } from './oracle.js';

const TOKEN = 'ghp_Q7mZ42F292c6912E7710c838347Ae178B4a0x';
const KEY = `k3y+/&"<>%='ABCDEFGHIJ9876543210zyxwvu`;
/** The hosts are an address: the service is a process of its own, which asks the name servers of the machine. */
const HOST = '127.0.0.2';
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

describe('What is kept of a task that uses secrets, and of its worker that is killed (reference §24)', () => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const authority = new AuthorityFile();
  const oracle = new Oracle({ TOKEN, KEY });
  const mark = newMark();
  const logs: string[] = [];
  let hosts: WebHosts;
  let model: ModelServer;
  let receiver: Receiver;
  let db: NewDatabase;
  let service: ServiceProcess;
  let env: Record<string, string>;
  let secret: string;
  let ids: string[];
  let before: string[];

  const operator = () => new Operator({ db }, { ...env, PATH: process.env['PATH'] ?? '' });
  const client = () => new Client(service.url, secret);
  const start = async () => {
    service = await ServiceProcess.start(env);
  };

  beforeAll(async () => {
    before = keysOfOthers();
    // The host says the value back as it is, compressed, in its headers, and in an error.
    hosts = await WebHosts.start(({ url = '', headers }, response) => {
      const echo = `it was ${headers.authorization} ${url}\n`;
      if (url.startsWith('/gzip')) response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(echo));
      else if (url.startsWith('/error')) response.writeHead(500, { 'X-Echo': encodeURI(echo.trim()) }).end(echo);
      else if (url.startsWith('/echo')) response.end(echo);
      else return false;
      return true;
    }, HOST);
    model = await ModelServer.start();
    receiver = await Receiver.listen();
    db = await emptyDatabase();
    const CONFIG_FILE = join(folder.path, 'config.json');
    const sandbox = { network: 'allow', allowHosts: [`${HOST}:${hosts.https}`], allowNetworks: ['127.0.0.0/8'], caFile: authority.path }; // prettier-ignore
    writeFileSync(CONFIG_FILE, JSON.stringify({ ...FAR_LIMITS, sandbox }));
    env = {
      ...{ DATABASE_URL: db.url, SECRET_KEY, DATA_DIR: dataDir, CONFIG_FILE, LOG_LEVEL: 'trace', REDIS_URL: '' },
      ...{ OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '5', ...HERE },
    };
    await start();
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    secret = (await operator().json<{ key: { secret: string } }>('key', 'create', ...who)).key.secret;
    const at = { host: HOST, port: hosts.https };
    await createSecret(client(), { value: TOKEN, bindings: [{ ...at, place: { header: 'Authorization' } }] });
    await createSecret(client(), { name: 'KEY', value: KEY, bindings: [{ ...at, place: { query: 'key' } }] });
    await createWebhook(client(), { url: receiver.url('/all') });
  });
  afterAll(async () => {
    await service.end('SIGKILL');
    await Promise.all([hosts.stop(), model.stop(), receiver.close()]);
    await db.drop();
    authority.remove();
    folder.remove();
  });

  /** Makes requests with both secrets, and writes all that comes back into the folder of the task. */
  const curl = (path: string) => `curl -sS -v -m 20 -H "Authorization: Bearer $TOKEN" "https://${HOST}:${hosts.https}${path}?key=$KEY"`; // prettier-ignore

  it('a task has used both, and its worker is killed while a second one holds them', async () => {
    const commands = [
      `(env; ${curl('/echo')}; ${curl('/gzip')} --compressed; ${curl('/gzip')} --output raw.gz; ${curl('/error')}) 2>&1 | tee told.txt`,
      `${curl('/error')} --fail -o failed.txt; ps -ef >ps.txt; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline >processes.txt 2>&1; exit 3`,
    ].map((command) => call('bash', { command }));
    const share = call('publish', { path: 'told.txt' });
    const first = await createTask(client(), { content: script(...commands, share, { text: 'Done.' }) });
    expect(await finishedLater(client(), first.id)).toMatchObject({ status: 'completed' });
    const [told] = await readResults(client(), first.id);
    expect(JSON.stringify(told?.output)).toContain('[secret TOKEN]');
    expect(hosts.requests.filter(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toHaveLength(5);
    expect(decodeURIComponent(hosts.requests[0]?.url ?? '')).toBe(`/echo?key=${KEY}`);

    const command = `while :; do ${curl('/echo')} 2>&1; touch asked; sleep 0.2; : ${mark}; done`;
    const second = await createTask(client(), { content: script(call('bash', { command }), { text: 'After all.' }) });
    await until('the second task to ask', () => existsBelow(workdirsOf(dataDir), second.id, 'asked'));
    expect(processesWith(mark)).not.toEqual([]);
    expect(oracle.findInProcesses()).toEqual([]);
    await service.end('SIGKILL');
    logs.push(service.log);
    ids = [first.id, second.id];
  });

  it('nothing of the session outlives the worker: no process, no authority with its key, no memory in a file', async () => {
    await processesGone(mark, 10_000);
    const asked = hosts.requests.length;
    expect(oracle.findInProcesses()).toEqual([]);
    for (const path of [folder.path, dirname(workdirsOf(dataDir))]) expect(keysBelow(path, Infinity)).toEqual([]);
    expect(keysOfOthers()).toEqual(before);
    expect(readdirSync(process.cwd()).filter((name) => /^core(\.|$)/.test(name))).toEqual([]);
    expect(hosts.requests.length).toBe(asked);
  });

  it('the task goes on under another worker, and its log, events, messages, files and answers have nothing of a value', async () => {
    await start();
    expect(await finishedLater(client(), ids[1] ?? '')).toMatchObject({ status: 'completed' });
    const webhooks = () => receiver.at('/all').filter(({ event }) => event.type === 'task.completed');
    await until('both ends to be told', () => webhooks().length >= 2);
    const paths = ids.flatMap((id) => ['', '/messages', '/events', '/network', '/secrets', '/files', '/changes'].map((part) => `/v1/tasks/${id}${part}`)); // prettier-ignore
    const answers = [];
    for (const path of [...paths, '/v1/secrets', '/v1/audit?limit=100', '/v1/events', '/v1/webhooks'])
      answers.push(await client().get<{ files?: { downloadUrl: string }[] }>(path));
    const links = answers.flatMap(({ body }) => body.files?.map(({ downloadUrl }) => downloadUrl) ?? []);
    expect(links).toHaveLength(1);
    const headers = { Authorization: `Bearer ${secret}` };
    for (const link of links) expect(oracle.find(Buffer.from(await (await fetch(link, { headers })).arrayBuffer()))).toEqual([]); // prettier-ignore
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(12);
    for (const { text } of answers) expect(oracle.find(Buffer.from(text))).toEqual([]);
    for (const { body } of receiver.received) expect(oracle.find(Buffer.from(body))).toEqual([]);
    for (const { body } of model.requests) expect(oracle.find(Buffer.from(JSON.stringify(body)))).toEqual([]);
    await service.end();
    logs.push(service.log);
    for (const log of logs) {
      expect(log).toContain(ids[1]);
      expect(oracle.find(Buffer.from(log))).toEqual([]);
    }
  });

  it('no row, file, snapshot, workdir or backup has it, and no word of the operator command', async () => {
    const { out, err } = await operator().spawn('backup', join(folder.path, 'backup'));
    const listed = await operator().spawn('secret', 'list', '--workspace', 'default');
    expect(listed.out).toContain('TOKEN');
    const doctor = await operator().spawn('doctor');
    for (const text of [out, err, listed.out, listed.err, doctor.out, doctor.err])
      expect(oracle.find(Buffer.from(text))).toEqual([]);
    const parts = readdirSync(join(folder.path, 'backup')).filter((name) => name.endsWith('.gz'));
    expect(parts.length).toBeGreaterThan(1);
    const unpacked = join(folder.path, 'unpacked');
    mkdirSync(unpacked);
    for (const name of parts) {
      writeFileSync(join(unpacked, name), gunzipSync(readFileSync(join(folder.path, 'backup', name))));
    }
    expect(await rowsWith(db, oracle)).toEqual([]);
    for (const path of new Set([folder.path, dirname(workdirsOf(dataDir))])) expect(oracle.findBelow(path)).toEqual([]);
  });

  it('the search finds what is planted in a row and a file, and a key of an authority', async () => {
    await db.query('CREATE TABLE planted (text text, bytes bytea)');
    await db.query('INSERT INTO planted VALUES ($1, NULL), (NULL, $2)', [Buffer.from(TOKEN).toString('base64'), Buffer.from(KEY)]); // prettier-ignore
    expect(await rowsWith(db, oracle)).toEqual(expect.arrayContaining([expect.stringMatching(/^planted: TOKEN/), expect.stringMatching(/^planted: KEY/)])); // prettier-ignore
    const planted = join(folder.path, 'planted');
    mkdirSync(planted);
    writeFileSync(join(planted, 'text'), `${'x'.repeat(5_000)}${KEY}`);
    expect(oracle.findBelow(planted)).toEqual(expect.arrayContaining([expect.stringMatching(/text: KEY/)]));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const [n, type] of (['pkcs8', 'sec1'] as const).entries()) {
      writeFileSync(join(planted, `${n}.der`), privateKey.export({ type, format: 'der' }));
      writeFileSync(join(planted, `${n}.pem`), privateKey.export({ type, format: 'pem' }));
    }
    expect(keysBelow(planted, 1).map((path) => basename(path))).toEqual(['0.der', '0.pem', '1.der', '1.pem']);
  });
});

function existsBelow(workdirs: string, taskId: string, name: string): boolean {
  const listed = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return listed(workdirs).some((path) => path.startsWith(taskId) && path.endsWith(`/${name}`));
}

/** A private key of P-256, as the authorities of sessions have: PEM, and DER by PKCS #8 and by SEC 1. */
const MARKS_OF_KEYS = [
  Buffer.from('PRIVATE KEY-----'),
  Buffer.from('020100301306072a8648ce3d020106082a8648ce3d030107', 'hex'),
  Buffer.from('30770201010420', 'hex'),
];

/** Keys in the folders that all programs of the machine share. */
const keysOfOthers = () => ['/dev/shm', tmpdir()].flatMap((path) => keysBelow(path, 1));

/** Files with a private key. @param depth folders deep. */
function keysBelow(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    try {
      if (entry.isDirectory()) return keysBelow(path, depth - 1);
      if (!entry.isFile()) return [];
      const bytes = readFileSync(path);
      return MARKS_OF_KEYS.some((mark) => bytes.includes(mark)) ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** `table: what` for each value that a row has in any form; bytes are looked at as text and as bytes. */
async function rowsWith(db: NewDatabase, oracle: Oracle): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    const text = rows.map(({ row }) => row).join('\n');
    const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex'));
    const all = Buffer.concat([Buffer.from(text), Buffer.from(text.replaceAll('""', '"')), ...bytes]);
    found.push(...oracle.find(all).map((what) => `${name}: ${what}`));
  }
  return found;
}
