import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plansOf, rateLimitsOf, sandboxLimitsOf, transparencyOf } from './config-file.js';
import { ConfigurationError, ENV_NAMES, readEnv } from './env.js';

const SECRET = 'a secret that is long enough: 32+ bytes';

/** The message of the refusal; fails when there is none. */
function refusal(source: Record<string, string>): string {
  try {
    readEnv(source);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error(`accepted: ${JSON.stringify(source)}`);
}

describe('the environment', () => {
  it('is described by .env.example, with the same variables in the same order', () => {
    const names = readFileSync('.env.example', 'utf8').match(/^(?:# )?[A-Z][A-Z0-9_]+(?==)/gm) ?? [];
    expect(names.map((name) => name.replace('# ', ''))).toEqual(ENV_NAMES);
  });

  it('has the defaults that .env.example shows', () => {
    const text = readFileSync('.env.example', 'utf8');
    const shown = new Map(
      [...text.matchAll(/Default (\S+?)[.:,]?(?: .*)?\n# ([A-Z_]+)=(.*)\n/g)].map(([, said, name, sample]) => [
        name,
        { said, sample },
      ]),
    );
    for (const [name, value] of Object.entries(readEnv({}).variables)) {
      if (value === undefined) continue;
      expect([name, shown.get(name)]).toEqual([name, { said: String(value), sample: String(value) }]);
    }
  });

  it('can be empty, and takes an empty value as none', () => {
    const all = Object.fromEntries(ENV_NAMES.map((name) => [name, '']));
    expect(readEnv(all).variables).toEqual(readEnv({}).variables);
    expect(readEnv({}).variables).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', ROLE: 'all', SANDBOX: 'auto' });
    expect(readEnv({}).variables).toMatchObject({ STORAGE: 'local', AGENT_ENGINE: 'loop' });
  });

  it.each([
    ['PORT', '70000', 'a whole number from 0 to 65535'],
    ['PORT', 'http', 'a whole number from 0 to 65535'],
    ['PORT', '3000.5', 'a whole number from 0 to 65535'],
    ['PUBLIC_URL', 'example.org', 'a URL that begins with http:// or https://'],
    ['PUBLIC_URL', 'https://mill.example/base', 'an origin such as https://millwright.example, without a path'],
    ['DATABASE_URL', 'mysql://h/d', 'a URL that begins with postgres:// or postgresql://'],
    ['REDIS_URL', 'localhost:6379', 'a URL that begins with redis:// or rediss://'],
    ['ROLE', 'boss', 'one of all, api, worker'],
    ['SECRET_KEY', 'short', 'a value of at least 32 bytes'],
    ['WORKER_CONCURRENCY', '0', 'a whole number from 1 to 1000'],
    ['LEASE_SECONDS', '1', 'a whole number from 2 to 3600'],
    ['AUTH_FAILURES_PER_MINUTE', '0', 'a whole number from 1 to 1000000'],
    ['HOOKS_PER_MINUTE', '0', 'a whole number from 1 to 1000000'],
    ['METRICS_PORT', '70000', 'a whole number from 1 to 65535'],
    ['MAX_UPLOAD_BYTES', '-1', `a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`],
    ['INTERACTION_TTL_SECONDS', 'a week', 'a whole number from 1 to 316224000'],
    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
    ['OPENAI_COMPATIBLE_URL', '127.0.0.1:11434', 'a URL that begins with http:// or https://'],
  ])('refuses %s=%s with the name and the accepted form', (name, value, form) => {
    expect(refusal({ [name]: value })).toBe(`${name}: ${form} is expected.`);
  });

  it('names every wrong value at once', () => {
    expect(refusal({ PORT: 'x', ROLE: 'y' }).split('\n')).toHaveLength(2);
  });

  it('requires SECRET_KEY with DATABASE_URL', () => {
    const DATABASE_URL = 'postgres://u:p@127.0.0.1/d';
    expect(refusal({ DATABASE_URL })).toMatch(/^SECRET_KEY: /);
    expect(readEnv({ DATABASE_URL, SECRET_KEY: SECRET }).variables.DATABASE_URL).toBe(DATABASE_URL);
  });

  it.each([
    ['ANTHROPIC_MODEL', 'ANTHROPIC_API_KEY'],
    ['OPENAI_MODEL', 'OPENAI_API_KEY'],
    ['GOOGLE_MODEL', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['OPENAI_COMPATIBLE_MODEL', 'OPENAI_COMPATIBLE_URL'],
    ['OPENAI_COMPATIBLE_KEY', 'OPENAI_COMPATIBLE_URL'],
  ])('%s says nothing without %s', (name, needed) => {
    const model = needed === 'OPENAI_COMPATIBLE_URL' ? { OPENAI_COMPATIBLE_MODEL: 'm' } : {};
    expect(refusal({ [name]: 'x' })).toBe(
      `${needed}: a value is expected when ${name} is set; without it there is no such model.`,
    );
    expect(() => readEnv({ ...model, [name]: 'x', [needed]: 'http://127.0.0.1:1/v1' })).not.toThrow();
  });

  it('says what each role does', () => {
    const of = (ROLE: string) => [readEnv({ ROLE }).servesApi, readEnv({ ROLE }).runsWork];
    expect([of('all'), of('api'), of('worker')]).toEqual([
      [true, true],
      [true, false],
      [false, true],
    ]);
  });
});

describe('CONFIG_FILE', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millwright-env-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function configured(content: unknown, more: Record<string, string> = {}): Record<string, string> {
    const path = join(folder, 'config.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return { CONFIG_FILE: path, ...more };
  }
  const usage = { window: 'month', unit: 'tasks', allowance: 1 };
  const model = { id: 'house', provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' };

  it('replaces the defaults key by key', () => {
    const file = { transparency: { files: true }, sandbox: { wallClockSeconds: 5 } };
    const env = readEnv(configured(file));
    expect(transparencyOf(env.file)).toMatchObject({ text: true, files: true, data: false });
    expect(sandboxLimitsOf(env.file)).toMatchObject({ wallClockSeconds: 5, processes: 256 });
  });

  it('replaces rate limits down to a single number', () => {
    const free = { global: { capacity: 240 }, policies: { file_upload: { windowSeconds: 120 } } };
    const { file } = readEnv(configured({ rateLimits: { free } }));
    const defaults = rateLimitsOf({});
    expect(defaults.paid.policies.task_execution).toEqual({ capacity: 120, windowSeconds: 60 });
    expect(rateLimitsOf(file)).toEqual({
      free: {
        global: { capacity: 240, windowSeconds: 60 },
        policies: { ...defaults.free.policies, file_upload: { capacity: 20, windowSeconds: 120 } },
      },
      paid: defaults.paid,
    });
  });

  it('replaces plans key by key, and a list of windows as a whole', () => {
    const day = { window: 'day', unit: 'cost', allowance: 2.5 };
    const { file } = readEnv(configured({ plans: { free: { windows: [day] }, paid: { runningTasks: 3 } } }));
    const monthly = { window: 'month', unit: 'tasks', allowance: 100 };
    expect(plansOf({})).toEqual({
      free: { name: 'Free', activeAutomations: 3, runningTasks: 2, storageBytes: 2 ** 30, windows: [monthly] },
      paid: { name: 'Paid', activeAutomations: 100, runningTasks: 12, storageBytes: null, windows: [] },
    });
    expect(plansOf(file)).toEqual({
      free: { name: 'Free', activeAutomations: 3, runningTasks: 2, storageBytes: 2 ** 30, windows: [day] },
      paid: { name: 'Paid', activeAutomations: 100, runningTasks: 3, storageBytes: null, windows: [] },
    });
  });

  it('takes a paid bucket that is as large as the free one', () => {
    const rateLimits = {
      free: { global: { capacity: 1200 } },
      paid: { policies: { metadata_read: { capacity: 60 } } },
    };
    expect(() => readEnv(configured({ rateLimits }))).not.toThrow();
  });

  it('is refused when it is absent or no JSON', () => {
    expect(refusal({ CONFIG_FILE: join(folder, 'absent.json') })).toMatch(/^CONFIG_FILE: .*absent\.json/);
    expect(refusal(configured('{'))).toMatch(/^CONFIG_FILE: /);
  });

  it.each([
    ['an unknown part', { modles: [] }, /modles/],
    ['an unknown key of a model', { models: [{ ...model, tier: 1 }] }, /models\.0: .*tier/],
    ['two models of one id', { models: [model, model] }, /models: every model needs an id of its own/],
    [
      'two default models',
      {
        models: [
          { ...model, default: true },
          { ...model, id: 'b', default: true },
        ],
      },
      /at most one model can be the default/,
    ],
    [
      'a fallback that is no model',
      { models: [{ ...model, fallback: 'b' }] },
      /models: the fallback 'b' is not the id/,
    ],
    ['a model that falls back on itself', { models: [{ ...model, fallback: 'house' }] }, /models: .*'house' go round/],
    [
      'fallbacks in a circle',
      {
        models: [
          { ...model, fallback: 'b' },
          { ...model, id: 'b', fallback: 'c' },
          { ...model, id: 'c', fallback: 'b' },
        ],
      },
      /models: the fallbacks of the model 'house' go round in a circle/,
    ],
    [
      'hosts to allow without a network',
      { sandbox: { allowHosts: ['a.example'] } },
      /sandbox\.allowHosts: an empty list/,
    ],
    [
      'a network without hosts',
      { sandbox: { network: 'allow' } },
      /sandbox\.allowHosts: at least one host is expected/,
    ],
    ...['https://a.example', 'A.example', 'a.*.example', '*:443', '**', '*.', 'a.example:x', 'a.example/b', ''].map(
      (host): [string, object, RegExp] => [
        `'${host}' as a host`,
        { sandbox: { network: 'allow', allowHosts: [host] } },
        /sandbox\.allowHosts\.0: a host name in small letters is expected/,
      ],
    ),
    ...['[FD00::1]', '[fd00:0:0::1]', '010.0.0.1', '127.1', 'a.example:65536'].map((host): [string, object, RegExp] => [
      `'${host}' as a host, which no request names so`,
      { sandbox: { network: 'allow', allowHosts: [host] } },
      /sandbox\.allowHosts\.0: a host/,
    ]),
    ...[
      [
        'that is not there',
        '/nowhere/ca.pem',
        /sandbox\.caFile: a readable file with certificates .*\/nowhere\/ca\.pem \(ENOENT/,
      ],
      ['without one', '/etc/hostname', /sandbox\.caFile: .* \/etc\/hostname \(it has no certificate\)/],
      ['by a relative path', 'ca.pem', /sandbox\.caFile: an absolute path of a file is expected/],
    ].map(([how, caFile, reason]): [string, object, RegExp] => [
      `a file of certificates ${String(how)}`,
      { sandbox: { network: 'allow', allowHosts: ['a.example'], caFile } },
      reason as RegExp,
    ]),
    [
      'a network that is none',
      { sandbox: { network: 'allow', allowHosts: ['*.a.example:8443'], allowNetworks: ['10.0.0.0'] } },
      /sandbox\.allowNetworks\.0: a network is expected/,
    ],
    [
      'a host for secrets that commands do not reach',
      {
        sandbox: {
          network: 'allow',
          allowHosts: ['a.example', '*.b.example'],
          secretHosts: ['x.b.example', 'b.example'],
        },
      },
      /sandbox\.secretHosts\.1: a host that allowHosts has too is expected/,
    ],
    ['an unknown kind of part', { transparency: { thoughts: true } }, /transparency: .*thoughts/],
    [
      'a paid bucket that is smaller than the default of a free one',
      { rateLimits: { paid: { policies: { resource_write: { capacity: 29 } } } } },
      /rateLimits\.paid\.policies\.resource_write: at least what a free workspace has/,
    ],
    [
      'a free bucket that is larger than the default of a paid one',
      { rateLimits: { free: { global: { capacity: 1201 } } } },
      /rateLimits\.paid\.global: at least what a free workspace has/,
    ],
    [
      'a paid bucket that refills more slowly',
      { rateLimits: { paid: { global: { windowSeconds: 601 } } } },
      /rateLimits\.paid\.global: at least/,
    ],
    [
      'an unknown policy',
      { rateLimits: { free: { policies: { uploads: {} } } } },
      /rateLimits\.free\.policies: .*uploads/,
    ],
    ['an unknown plan', { rateLimits: { gold: {} } }, /rateLimits: .*gold/],
    [
      'a capacity of nothing',
      { rateLimits: { paid: { global: { capacity: 0 } } } },
      /rateLimits\.paid\.global\.capacity/,
    ],
    ['a plan of an unknown name', { plans: { gold: {} } }, /plans: .*gold/],
    ['an unknown key of a plan', { plans: { free: { runs: 1 } } }, /plans\.free: .*runs/],
    ['a plan without a name', { plans: { free: { name: ' ' } } }, /plans\.free\.name/],
    ['a plan under which nothing runs', { plans: { paid: { runningTasks: 0 } } }, /plans\.paid\.runningTasks/],
    ['half an automation', { plans: { free: { activeAutomations: 0.5 } } }, /plans\.free\.activeAutomations/],
    ['an unknown window', { plans: { free: { windows: [{ ...usage, window: 'year' }] } } }, /windows\.0\.window/],
    ['an unknown unit', { plans: { free: { windows: [{ ...usage, unit: 'steps' }] } } }, /windows\.0\.unit/],
    ['no allowance', { plans: { free: { windows: [{ ...usage, allowance: 0 }] } } }, /windows\.0\.allowance/],
    ['half a task', { plans: { free: { windows: [{ ...usage, allowance: 0.5 }] } } }, /windows\.0\.allowance: a whole/],
    ['a window twice', { plans: { paid: { windows: [usage, usage] } } }, /plans\.paid\.windows: each window/],
    ['two tokens of a host', { repositories: { a: { tokenEnv: 'T', secret: 'T' } } }, /a\.secret: either/],
    ['a host that nothing opens', { repositories: { a: { paths: ['a/*'] } } }, /a\.tokenEnv: /],
    ['no name of a secret', { repositories: { a: { secret: 'my-token' } } }, /a\.secret: .*GITHUB_TOKEN/],
    ['a limit of nothing', { sandbox: { processes: 0 } }, /sandbox\.processes/],
  ])('is refused with %s', (_what, content, message) => {
    const said = refusal(configured(content));
    expect(said).toMatch(/^CONFIG_FILE, /);
    expect(said).toMatch(message);
  });

  it('takes the key of a model from the variable that it names, and requires it', () => {
    const file = { models: [{ ...model, apiKeyEnv: 'HOUSE_KEY' }] };
    expect(refusal(configured(file))).toMatch(/^HOUSE_KEY: a key is expected/);
    expect(readEnv(configured(file, { HOUSE_KEY: 'k' })).modelKeys.get('HOUSE_KEY')).toBe('k');
  });
});
