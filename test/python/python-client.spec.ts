import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { freePort } from '../harness/ports.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'packages/python');
const SHARED = join(ROOT, 'test/fixtures');
/** Debian's, which has the packages of `have_programs` in .ci/run. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const run = promisify(execFile);
type Outcome = { code: number; out: string };

/** Of the built service with a real database; the tests themselves are in packages/python/tests. */
describe('The Python client (reference §19)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    db = await createDatabase();
    const own = {
      DATABASE_URL: db.url,
      DATA_DIR: join(folder.path, 'data'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      WEBHOOK_NETWORKS: '127.0.0.1/32',
    };
    service = await ServiceProcess.spawn(own);
    await service.ready(200_000);
    const path = process.env['PATH'] ?? '';
    const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
    const { stdout } = await run(process.execPath, [join(ROOT, 'dist/cli.js'), ...words], { env: { PATH: path, ...own } }); // prettier-ignore
    const { key } = JSON.parse(stdout) as { key: { secret: string } };
    env = {
      PATH: path,
      HOME: folder.path,
      // Nothing is written into the checkout.
      PYTHONDONTWRITEBYTECODE: '1',
      MILLWRIGHT_URL: service.url,
      MILLWRIGHT_API_KEY: key.secret,
    };
  });
  afterAll(async () => {
    await service.end();
    await db.drop();
    folder.remove();
  });

  const python = async (words: string[], more: Record<string, string> = {}, cwd = PACKAGE): Promise<Outcome> => {
    const options = { cwd, env: { ...env, ...more }, maxBuffer: 64 * 1024 * 1024 };
    try {
      const { stdout, stderr } = await run(PYTHON, words, options);
      return { code: 0, out: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, out: `${stdout}${stderr}`.slice(-20_000) };
    }
  };
  const src = { PYTHONPATH: join(PACKAGE, 'src') };
  const example = (name: string, words: string[], more = {}) =>
    python([join(PACKAGE, 'examples', name), ...words], { ...src, ...more }, folder.path);

  it('does in both of its forms what its tests say', async () => {
    const { code, out } = await python(['-m', 'pytest', '-q', '--no-header', '--tb=short']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d{3,} passed in/m)]);
  }, 900_000);

  it('has types that mypy finds nothing wrong with, and its examples keep them', async () => {
    const cache = ['--cache-dir', join(folder.path, 'mypy')];
    expect(await python(['-m', 'mypy', ...cache, 'src', ...['run_task', 'many_tasks', 'receive_webhooks', 'verify_proof'].map((name) => `examples/${name}.py`)])).toMatchObject({ code: 0 }); // prettier-ignore
    // What it finds where something is wrong: the one description gives each client types of its own.
    const wrong = join(folder.path, 'wrong.py');
    const lines = [
      'from millwright import AsyncMillwright, Millwright',
      'Millwright().tasks.create({"contnt": "x"})',
      'Millwright().tasks.get("x")["stauts"]',
      'async def f() -> None:',
      '    AsyncMillwright().tasks.get("x")["status"]',
      '    for task in AsyncMillwright().tasks.list(): pass',
      '    print(Millwright().tasks.get("x")["status"], (await AsyncMillwright().tasks.get("x"))["status"])',
    ];
    writeFileSync(wrong, lines.join('\n'));
    const { out } = await python(['-m', 'mypy', ...cache, wrong]);
    expect([...new Set(out.match(/(?<=wrong\.py:)\d+(?=: error)/g))]).toEqual(['2', '3', '5', '6']);
  });

  it('has examples that work', async () => {
    const [content, names, sorted] = [join(ROOT, 'examples/sort-names.md'), join(ROOT, 'examples/names.txt'), join(folder.path, 'sorted.txt')]; // prettier-ignore
    const ran = await example('run_task.py', [content, names, sorted]);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('completed')]);
    expect(readFileSync(sorted, 'utf8')).toBe('a\nb\n');
    const many = await example('many_tasks.py', ['echo one', 'echo two']);
    expect([many.code, many.out.trim().split('\n').sort()]).toEqual([0, ['echo one: completed', 'echo two: completed']]); // prettier-ignore
    const golden = JSON.parse(readFileSync(join(SHARED, 'proofs/golden.json'), 'utf8')) as Record<string, object> & { patch: string }; // prettier-ignore
    const put = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
    put('proof.json', JSON.stringify(golden['proof']));
    put('keys.json', JSON.stringify(golden['keys']));
    put('changes.patch', golden.patch);
    put('other.patch', `${golden.patch}\n`);
    const proven = await example('verify_proof.py', ['proof.json', 'changes.patch', 'keys.json']);
    expect([proven.code, proven.out]).toEqual([0, expect.stringMatching(/^PASSED: /)]);
    const other = await example('verify_proof.py', ['proof.json', 'other.patch', 'keys.json']);
    expect([other.code, other.out]).toEqual([1, expect.stringContaining('is not the one that was checked')]);
    expect((await example('verify_proof.py', ['proof.json', 'changes.patch', service.url])).code).toBe(1);
  });

  it('receives the webhooks of the service, and refuses another', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const headers = { Authorization: `Bearer ${env['MILLWRIGHT_API_KEY']}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ url, types: ['task.completed'] });
    const made = await fetch(`${service.url}/v1/webhooks`, { method: 'POST', headers, body });
    const { webhook, secret } = (await made.json()) as { webhook: { id: string }; secret: string };
    const receiving = example('receive_webhooks.py', [String(port), '1'], { MILLWRIGHT_WEBHOOK_SECRET: secret });
    const refused = await until('the receiver', async () => {
      const answer = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
      return answer?.status;
    });
    expect(refused).toBe(400);
    const test = await fetch(`${service.url}/v1/webhooks/${webhook.id}/test`, { method: 'POST', headers });
    expect(test.status).toBe(202);
    const { code, out } = await receiving;
    expect([code, out]).toEqual([0, expect.stringContaining('webhook.test')]);
  });

  it('built and installed elsewhere it is whole: its types, no test, and nothing that it does not name', async () => {
    const copy = mkdtempSync(join(folder.path, 'build-'));
    // A build writes beside its sources.
    for (const name of ['src', 'pyproject.toml', 'README.md', 'tests']) {
      cpSync(join(PACKAGE, name), join(copy, name), { recursive: true });
    }
    const built = await python(['-m', 'build', '--no-isolation', '--wheel', '--outdir', 'out', '.'], {}, copy);
    expect(built).toMatchObject({ code: 0 });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const wheel = join(copy, 'out', `millwright-${version}-py3-none-any.whl`);
    const listed = await python(['-m', 'zipfile', '-l', wheel]);
    const names = listed.out.split('\n').slice(1).map((line) => line.split(' ')[0] ?? '').filter((name) => name !== ''); // prettier-ignore
    expect(names).toEqual(expect.arrayContaining(['millwright/__init__.py', 'millwright/_schema.py', 'millwright/py.typed'])); // prettier-ignore
    expect(names.filter((name) => !/^millwright(-[\d.]+\.dist-info)?\/[^/]+$/.test(name) || /test/.test(name))).toEqual([]); // prettier-ignore
    // In place of pip, which may want a network: a wheel is an archive of what lies in site-packages.
    const installed = join(copy, 'installed');
    expect(await python(['-m', 'zipfile', '-e', wheel, installed])).toMatchObject({ code: 0 });
    const program = `
import importlib.metadata as m, json, millwright
client = millwright.Millwright()
print(json.dumps([millwright.__file__, m.version("millwright"), m.requires("millwright"), client.auth.context()["user"]["name"] != ""]))`;
    const used = await python(['-c', program], { PYTHONPATH: installed }, copy);
    expect([used.code, JSON.parse(used.out)]).toEqual([0, [join(installed, 'millwright/__init__.py'), version, ['httpx (<1,>=0.23.3)'], true]]); // prettier-ignore
  });
});
