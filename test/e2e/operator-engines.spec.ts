import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jest } from '@jest/globals';
import { KNOWN_ENGINES } from '../../src/engine/engines/known-engines.js';
import { readEnv } from '../../src/platform/config/env.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';

interface Installed {
  engine: {
    name: string;
    path: string;
    tried: { version: string; startMs: number; tools: string[] } | null;
    config: { engines: Record<string, object>; models: object[] } | null;
  };
}

/** Where the program of `codex` lies in its folder. */
const PROGRAM = 'node_modules/@agentclientprotocol/codex-acp/dist/index.js';
/** Answers as an agent does, behind a line that is none, and asks its model once. */
const AGENT = `const address = JSON.parse(process.env.CODEX_CONFIG).model_providers.mw.base_url;
const body = JSON.stringify({ model: 'any', input: [], tools: [{ type: 'function', name: 'exec_command', parameters: {} }] });
const ask = () => fetch(address + '/responses', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, agentCapabilities: {}, agentInfo: { name: 'acted', version: '1.2.3' } }),
  'session/new': () => ({ sessionId: 'one' }),
  'session/prompt': async () => (await ask()).ok ? { stopReason: 'end_turn' } : { stopReason: 'refusal' },
};
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  console.log('a warning');
  require('fs').statSync(process.env.HOME + '/.codex');
  const result = await ANSWERS[method]?.(params) ?? {};
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

// npm, and a sandbox.
jest.setTimeout(240_000);

describe('engine install of the operator command (reference §16, §30)', () => {
  const folder = temporaryFolder();
  const DATA_DIR = join(folder.path, 'data');
  const engines = join(DATA_DIR, 'engines');
  const operator = new Operator({ db: { url: 'postgres://nobody@127.0.0.1:1/none' } }, { DATA_DIR });
  const install = (...words: string[]) => operator.attempt('engine', 'install', ...words);
  const names = () => (existsSync(engines) ? readdirSync(engines).sort() : []);
  let made = 0;
  /** A folder that looks like that of Codex. */
  const source = (program: string) => {
    const path = join(folder.path, `source-${(made += 1)}`);
    mkdirSync(dirname(join(path, PROGRAM)), { recursive: true });
    writeFileSync(join(path, PROGRAM), program, { mode: 0o600 });
    return path;
  };
  beforeAll(() => chmodSync(folder.path, 0o755));
  afterAll(() => folder.remove());

  it('lays a folder into DATA_DIR, starts it in a sandbox, and prints what CONFIG_FILE takes', async () => {
    const from = source(AGENT);
    const { engine } = await operator.json<Installed>('engine', 'install', 'codex', '--from', from);
    const path = join(engines, 'codex');
    expect(engine).toMatchObject({ name: 'codex', path, tried: { version: '1.2.3', tools: ['exec_command'] } });
    expect(readFileSync(join(path, PROGRAM), 'utf8')).toBe(AGENT);
    // Users of sandboxes read it, and write nothing.
    expect(statSync(join(path, PROGRAM)).mode & 0o077).toBe(0o044);
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(engine.config));
    const { engines: read, models } = readEnv({ CONFIG_FILE: file, OPENAI_API_KEY: 'k' }).file;
    expect(read).toMatchObject({ codex: { path, ...KNOWN_ENGINES.get('codex')?.definition } });
    expect(models).toMatchObject([{ id: 'codex', engine: 'codex', provider: 'openai' }]);
    expect(names()).toEqual(['codex']);
  });

  it('leaves one that is there as it is, unless it is told to replace it', async () => {
    const other = `${AGENT}\n// another`;
    const refused = await install('codex', '--from', source(other));
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is there already. Give --force') });
    expect(readFileSync(join(engines, 'codex', PROGRAM), 'utf8')).toBe(AGENT);
    expect(await install('codex', '--from', source(other), '--force', '--no-trial')).toMatchObject({
      code: 0,
      err: '',
    });
    expect(readFileSync(join(engines, 'codex', PROGRAM), 'utf8')).toBe(other);
    expect(names()).toEqual(['codex']);
  });

  it.each([
    ['a folder that is not there', ['--from', './absent'], 'There is no folder'],
    ['a package that npm does not find', ['--from', 'file:/absent/package.tgz'], 'npm could not install'],
    ['another package than its own', ['--from', 'here'], `is not Codex as it is known: it has no ${PROGRAM}`],
    ['a program that ends', ['--from', 'ends'], 'It ended with exit code 3.\nError: broken'],
    ['a program that answers with an error', ['--from', 'refuses'], 'not today'],
  ])('leaves nothing of %s', async (_, words, message) => {
    const before = names();
    const sources: Record<string, () => string> = {
      here: () => import.meta.dirname,
      ends: () => source(`console.error('Error: broken'); process.exit(3)`),
      refuses: () =>
        source(
          `process.stdin.on('data', (line) => console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, error: { code: -1, message: 'not today' } })))`,
        ),
    };
    const { code, out, err } = await install(
      'codex-next',
      '--as',
      'codex',
      ...words.map((word) => sources[word]?.() ?? word),
    );
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringContaining(message) });
    expect(names()).toEqual(before);
    expect(readdirSync(DATA_DIR)).toEqual(['engines']);
  });

  it('asks npm for a package, none of whose scripts is run', async () => {
    const path = join(folder.path, 'package');
    mkdirSync(path);
    const scripts = { postinstall: `touch ${join(folder.path, 'was-run')}` };
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'own-agent', version: '1.0.0', scripts }));
    writeFileSync(join(path, 'index.js'), AGENT);
    const npm = { cwd: folder.path, stdio: 'ignore' as const };
    execFileSync('npm', ['pack', path], npm);
    const { engine } = await operator.json<Installed>(
      'engine',
      'install',
      'own',
      '--from',
      join(folder.path, 'own-agent-1.0.0.tgz'),
    );
    expect(engine).toEqual({ name: 'own', path: join(engines, 'own'), tried: null, config: null });
    expect(existsSync(join(engine.path, 'node_modules/own-agent/index.js'))).toBe(true);
    expect(existsSync(join(folder.path, 'was-run'))).toBe(false);
  });

  it.each([
    [['Codex'], "'Codex' is no name of an engine"],
    [['mine'], 'say with --from where its program is'],
    [['mine', '--as', 'other'], 'Allowed choices are codex, claude-code, opencode'],
  ])('says what is wrong with %j', async (words, message) => {
    const { code, err } = await install(...words);
    expect({ code, err }).toEqual({ code: expect.any(Number), err: expect.stringContaining(message) });
    expect(code).not.toBe(0);
  });

  it('knows engines that CONFIG_FILE takes, each with a model that speaks its wire', () => {
    for (const [name, { definition, model }] of KNOWN_ENGINES) {
      const file = join(folder.path, `${name}.json`);
      const models = [{ id: name, engine: name, ...model }];
      writeFileSync(file, JSON.stringify({ engines: { [name]: { path: folder.path, ...definition } }, models }));
      const keys = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' };
      expect(() => readEnv({ CONFIG_FILE: file, ...keys })).not.toThrow();
    }
    expect([...KNOWN_ENGINES.keys()]).toEqual(['codex', 'claude-code', 'opencode']);
  });
});
