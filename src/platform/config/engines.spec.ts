import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enginesIn } from './config-file.js';
import { readEnv } from './env.js';

const folder = mkdtempSync(join(tmpdir(), 'engines-config-'));
let files = 0;
function read(config: object, more: Record<string, string> = {}) {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, JSON.stringify(config));
  return readEnv({ CONFIG_FILE: path, OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', ...more });
}
const engine = (more: object = {}) => ({
  path: folder,
  command: ['node', '{path}/a.js'],
  wire: 'openai-chat',
  ...more,
});
const engines = {
  chat: engine(),
  responses: engine({ wire: 'openai-responses' }),
  anthropic: engine({ wire: 'anthropic-messages' }),
};
const openai = (more: object = {}) => ({ id: 'm', provider: 'openai', ...more });

describe('engines of CONFIG_FILE (reference §30)', () => {
  it('are programs in a folder of the machine, with what holds without more', () => {
    const usual = { env: {}, hide: [], providerTools: [], reads: [], startSeconds: 60, concurrency: 4 };
    expect(enginesIn(read({ engines: { b: engine({ concurrency: 2 }), a: engine() } }).file)).toEqual([
      { ...engine(), ...usual, name: 'a', memoryBytes: 2 * 1024 ** 3 },
      { ...engine(), ...usual, name: 'b', memoryBytes: 2 * 1024 ** 3, concurrency: 2 },
    ]);
    expect(enginesIn(read({}).file)).toEqual([]);
  });

  it('may have more memory than a command may', () => {
    const given = { sandbox: { memoryBytes: 1024 ** 3 }, engines: { a: engine({ memoryBytes: 8 * 1024 ** 3 }) } };
    expect(enginesIn(read(given).file)).toMatchObject([{ memoryBytes: 8 * 1024 ** 3 }]);
  });

  it.each([
    ['an unknown key', { a: engine({ colour: 'red' }) }, 'colour'],
    ['no command', { a: { path: folder, wire: 'openai-chat' } }, 'engines.a.command'],
    ['a command of no words', { a: engine({ command: [] }) }, 'engines.a.command'],
    ['no path', { a: { command: ['a'], wire: 'openai-chat' } }, 'engines.a.path'],
    ['a relative path', { a: engine({ path: 'codex' }) }, 'an absolute path'],
    ['no wire', { a: { path: folder, command: ['a'] } }, 'engines.a.wire'],
    ['a wire that nobody speaks', { a: engine({ wire: 'google' }) }, 'engines.a.wire'],
    ['a variable that cannot be one', { a: engine({ env: { 'A B': '' } }) }, 'engines.a.env.A B'],
    ['NUL in a word', { a: engine({ command: ['a\0b'] }) }, 'a text without NUL'],
    ['a name of capitals', { Codex: engine() }, 'small letters'],
    ['a name that is too long', { [`a${'b'.repeat(20)}`]: engine() }, 'at most 20'],
    ['no memory', { a: engine({ memoryBytes: 0 }) }, 'memoryBytes'],
    ['no time to start', { a: engine({ startSeconds: 0 }) }, 'startSeconds'],
    ['no run at once', { a: engine({ concurrency: 0 }) }, 'concurrency'],
    [
      'more than 32',
      Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`e${n}`, engine()])),
      'at most 32 engines',
    ],
  ])('stop the boot with %s', (_, given, message) => {
    expect(() => read({ engines: given })).toThrow(message);
  });

  it('lie in folders that are there, where tasks run', () => {
    const absent = { engines: { a: engine({ path: `${folder}/absent` }) } };
    expect(() => read(absent)).toThrow(`CONFIG_FILE, engines.a.path: a folder is expected at ${folder}/absent.`);
    expect(() => read(absent, { ROLE: 'worker' })).toThrow('a folder is expected');
    expect(() => read(absent, { ROLE: 'api' })).not.toThrow();
  });
});

describe('The engine of a model (reference §30)', () => {
  const anthropic = { id: 'm', provider: 'anthropic', engine: 'anthropic' };
  const compatible = { ...openai(), provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' };

  it.each([
    ['openai and its chat', openai({ engine: 'chat' })],
    ['openai and its responses', openai({ engine: 'responses' })],
    ['anthropic and its messages', anthropic],
    ['a compatible server and its chat', { ...compatible, engine: 'chat' }],
    ['a compatible server that has responses', { ...compatible, engine: 'responses', wires: ['openai-responses'] }],
  ])('speaks the wire of its provider: %s', (_, model) => {
    expect(read({ engines, models: [model] }).file.models).toMatchObject([model]);
  });

  it.each([
    [
      'an unknown one',
      openai({ engine: 'codex' }),
      "there is no engine 'codex'; engines has: chat, responses, anthropic",
    ],
    ['a name that every object has', openai({ engine: 'constructor' }), "there is no engine 'constructor'"],
    ['the wire of another provider', openai({ engine: 'anthropic' }), "'anthropic' speaks anthropic-messages, and the provider 'openai' speaks openai-chat and openai-responses"], // prettier-ignore
    [
      'one of OpenAI behind Anthropic',
      { ...anthropic, engine: 'responses' },
      "the provider 'anthropic' speaks anthropic-messages",
    ],
    [
      'responses of a server that does not say so',
      { ...compatible, engine: 'responses' },
      'where wires has ["openai-responses"]',
    ],
    ['a provider that speaks none', { ...openai({ engine: 'chat' }), provider: 'google' }, 'none of the wires'],
    ['a runbook', { ...openai({ engine: 'chat' }), provider: 'runbook' }, 'none of the wires'],
    ['wires of OpenAI', openai({ wires: ['openai-responses'] }), "models.0.wires: model 'm': it goes with the provider 'openai-compatible' alone"], // prettier-ignore
    ['another wire', { ...compatible, wires: ['anthropic-messages'] }, 'models.0.wires'],
  ])('stops the boot when it is %s', (_, model, message) => {
    expect(() => read({ engines, models: [model] })).toThrow(message);
  });

  it.each([
    [
      'the loop behind an engine',
      { engine: 'chat' },
      {},
      "driven by AGENT_ENGINE, and this model by the engine 'chat'",
    ],
    [
      'an engine behind the loop',
      {},
      { engine: 'chat' },
      "driven by the engine 'chat', and this model by AGENT_ENGINE",
    ],
    ['another engine, of another wire', { engine: 'chat' }, { engine: 'responses' }, "the engine 'responses'"],
    ['another engine of the same wire', { engine: 'chat' }, { engine: 'twin' }, "the engine 'twin'"],
  ])('stops the boot when the fallback has another: %s', (_, first, second, message) => {
    const models = [openai({ ...first, fallback: 'n' }), { ...openai(second), id: 'n' }];
    expect(() => read({ engines: { ...engines, twin: engine() }, models })).toThrow(message);
    expect(() => read({ engines, models })).toThrow('CONFIG_FILE, models.0.fallback');
  });

  it('is that of its fallback', () => {
    const models = [openai({ engine: 'chat', fallback: 'n' }), { ...compatible, id: 'n', engine: 'chat' }];
    expect(read({ engines, models }).file.models).toHaveLength(2);
  });
});
