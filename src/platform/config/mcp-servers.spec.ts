import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcpServersIn } from './config-file.js';
import { readEnv } from './env.js';
import { secretsOf } from '../logging/redaction.js';

const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
let files = 0;
function read(config: object, more: Record<string, string> = {}) {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, JSON.stringify(config));
  return readEnv({ CONFIG_FILE: path, ...more });
}
const program = (more: object = {}) => ({ docs: { command: 'node', ...more } });
const url = (more: object = {}) => ({ github: { url: 'https://mcp.example/mcp', ...more } });
const servers = (mcpServers: object) => () => read({ mcpServers });

describe('mcpServers of CONFIG_FILE (reference §28)', () => {
  it('is a program or a URL, with what holds without more', () => {
    const { file } = read({ mcpServers: { ...url(), ...program() } });
    const common = { description: '', tools: ['*'], readOnly: [], default: false, required: false, timeoutSeconds: 60 };
    expect(mcpServersIn(file)).toEqual([
      {
        ...{ ...common, name: 'docs', kind: 'program', approval: 'task' },
        ...{ command: 'node', args: [], env: {}, network: false, memoryBytes: 512 * 1024 ** 2 },
      },
      { ...common, name: 'github', kind: 'url', approval: 'always', url: 'https://mcp.example/mcp', headers: {} },
    ]);
  });

  it.each([
    ['neither of both', { docs: {} }, 'exactly one of command and url'],
    ['both', { docs: { command: 'a', url: 'https://a.example' } }, 'exactly one of command and url'],
    ['an unknown key', program({ colour: 'red' }), 'colour'],
    ['headers of a program', program({ headers: {} }), 'headers: it goes with url alone'],
    ['a network of a URL', url({ network: true }), 'network: it goes with command alone'],
    ['another kind of URL', { a: { url: 'file:///etc/passwd' } }, 'http:// or https://'],
    ['a user in the URL', { a: { url: 'https://ann:word@a.example' } }, 'a URL without a user and a password'],
    ['a variable as user of the URL', { a: { url: 'https://${U}:${P}@a.example' } }, 'a URL without a user'],
    ['a header of two lines', url({ headers: { A: 'b\r\nc: d' } }), 'one line'],
    ['a name that is too long', { [`a${'b'.repeat(20)}`]: { command: 'a' } }, 'at most 20'],
    ['a name of capitals', { Docs: { command: 'a' } }, 'small letters'],
    ['too long a time', program({ timeoutSeconds: 601 }), 'timeoutSeconds'],
    ['another approval', program({ approval: 'never' }), 'approval'],
    ['a key of the service', url({ headers: { A: 'Bearer ${SECRET_KEY}' } }), '${SECRET_KEY} is not handed'],
    ['the database', { a: { url: 'https://a.example/${DATABASE_URL}' } }, '${DATABASE_URL} is not handed'],
    ['Redis', url({ headers: { A: '${REDIS_URL}' } }), '${REDIS_URL} is not handed'],
    ['more memory than the sandbox has', program({ memoryBytes: 3 * 1024 ** 3 }), 'at most the memory of the sandbox'],
    [
      'more than 32',
      Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`s${n}`, { command: 'a' }])),
      'at most 32 servers',
    ],
    [
      'more than 8 that a workspace has by default',
      Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`s${n}`, { command: 'a', default: true }])),
      'at most 8 servers',
    ],
  ])('stops the boot with %s', (_, given, message) => {
    expect(servers(given)).toThrow(message);
  });

  it('takes variables of the environment, which a worker needs and an api does not, and masks them in the log', () => {
    const config = { mcpServers: url({ headers: { Authorization: 'Bearer ${MCP_TOKEN_OF_TEST}' } }) };
    expect(() => read(config)).toThrow('MCP_TOKEN_OF_TEST: a value is expected');
    expect(() => read(config, { ROLE: 'worker' })).toThrow('MCP_TOKEN_OF_TEST: a value is expected');
    expect(read(config, { ROLE: 'api' }).mcpValues.size).toBe(0);
    const env = read(config, { MCP_TOKEN_OF_TEST: 'a-value-that-is-secret' });
    expect(secretsOf(env)).toContain('a-value-that-is-secret');
  });
});

describe('Variables in the URL of a server (reference §28)', () => {
  const of = (given: string, value: string, role = 'all') =>
    read({ mcpServers: { a: { url: given } } }, { MCP_PART_OF_TEST: value, ROLE: role });

  it.each([
    ['a port', 'https://a.example:${MCP_PART_OF_TEST}/mcp', '8443'],
    ['a host', 'https://${MCP_PART_OF_TEST}/mcp', 'a.example'],
    ['the whole', '${MCP_PART_OF_TEST}', 'https://a.example/mcp'],
    ['a piece of a path', 'https://a.example/${MCP_PART_OF_TEST}', 'of ours'],
  ])('are %s', (_, given, value) => {
    expect(of(given, value).mcpValues.get('MCP_PART_OF_TEST')).toBe(value);
  });

  it.each([
    ['https://a.example:${MCP_PART_OF_TEST}/mcp', 'no-port', 'http:// or https://'],
    ['${MCP_PART_OF_TEST}', 'a.example', 'http:// or https://'],
    ['${MCP_PART_OF_TEST}', 'file:///etc/passwd', 'http:// or https://'],
    ['https://${MCP_PART_OF_TEST}', 'ann:word@a.example', 'without a user and a password'],
  ])('%s stops the boot of what calls it, with the value %s', (given, value, message) => {
    expect(() => of(given, value)).toThrow(`CONFIG_FILE, mcpServers.a.url, with the values of its variables: `);
    expect(() => of(given, value, 'worker')).toThrow(message);
    expect(() => of(given, value)).not.toThrow(value);
    expect(of(given, value, 'api').mcpValues.size).toBe(0);
  });

  it('and in headers are one line', () => {
    const config = { mcpServers: url({ headers: { A: '${MCP_PART_OF_TEST}' } }) };
    for (const value of ['a\nb', 'a\u0000', '名']) {
      expect(() => read(config, { MCP_PART_OF_TEST: value })).toThrow('mcpServers.github.headers.A, with the values');
    }
  });
});

describe('sandbox.programs of CONFIG_FILE (reference §28)', () => {
  const programs = (...all: string[]) => ({ sandbox: { programs: all } });

  it('are folders that are there, each with a last name of its own', () => {
    expect(read(programs(folder)).file.sandbox?.programs).toEqual([folder]);
    expect(() => read(programs(`${folder}/absent`))).toThrow(`a folder is expected at ${folder}/absent`);
    expect(() => read(programs('/a/docs', '/b/docs'))).toThrow('a last name of its own');
    expect(() => read(programs('docs'))).toThrow('an absolute path');
    expect(() => read(programs(`${folder}/absent`), { ROLE: 'api' })).not.toThrow();
  });
});
