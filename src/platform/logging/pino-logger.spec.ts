import { generateKeyPairSync } from 'node:crypto';
import { QueryFailedError } from 'typeorm';
import { Env, readEnv } from '../config/env.js';
import { PinoLogger } from './pino-logger.js';
import { redactor, secretsOf } from './redaction.js';

describe('PinoLogger', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = new PinoLogger('info', {
    destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const last = () => lines.at(-1);
  beforeEach(() => lines.splice(0));

  it("follows Nest's convention: message, stack, who logs", () => {
    logger.log('Ready', 'Millwright');
    expect(last()).toMatchObject({ level: 30, msg: 'Ready', context: 'Millwright' });
    logger.error('Broken', 'Error: at …', 'Runs');
    expect(last()).toMatchObject({ level: 50, msg: 'Broken', stack: 'Error: at …', context: 'Runs' });
    logger.warn({ requestId: 'r' }, 'http');
    expect(last()).toMatchObject({ level: 40, requestId: 'r', context: 'http' });
  });
  it('leaves to the program what it says last, and no stack of a database that is not there yet', () => {
    const wrong = Object.assign(new Error('PORT: a number is expected.'), { name: 'ConfigurationError' });
    logger.error(wrong, 'ExceptionHandler');
    logger.error(wrong, 'Elsewhere');
    logger.error('Unable to connect.', 'Error: at …', 'TypeOrmModule');
    logger.error(new Error('unforeseen'), 'ExceptionHandler');
    expect(lines).toMatchObject([
      { context: 'Elsewhere' },
      { msg: 'Unable to connect.' },
      { context: 'ExceptionHandler' },
    ]);
    expect(lines[1]).not.toHaveProperty('stack');
    expect(lines[2]).toMatchObject({ err: { message: 'unforeseen', stack: expect.stringContaining('at ') } });
  });
  it('is silent below its level', () => {
    logger.debug('x');
    logger.verbose('x');
    expect(lines).toEqual([]);
  });
  it('takes secrets out of a line: those it knows, also where they are written as JSON, keys, and passwords in URLs', () => {
    const secrets = ['a "quoted" secret key', 'sk-1234567890abcdef', 'short'];
    const written: string[] = [];
    const careful = new PinoLogger('info', { destination: { write: (line) => written.push(line) }, secrets });
    const key = `mw_pk_${'a'.repeat(49)}`;
    careful.warn(`Key ${key}, ${secrets.join(', ')}, whsec_${'b'.repeat(43)}=`);
    careful.warn({ url: 'postgres://mw:pass@db/mw', redis: 'redis://:p%40ss@r:6379', plain: 'http://a:1/b@c' });
    careful.error(new Error(`wrong: ${secrets[1]}`, { cause: new Error(secrets[0]) }));
    careful.log(`mw_pk_aaaaaa`);
    expect(written.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'Key [hidden], [hidden], [hidden], short, [hidden]' },
      { url: 'postgres://mw:[hidden]@db/mw', redis: 'redis://:[hidden]@r:6379', plain: 'http://a:1/b@c' },
      { err: { message: 'wrong: [hidden]', cause: { message: '[hidden]' } } },
      { msg: 'mw_pk_aaaaaa' },
    ]);
    expect(written.join('')).not.toMatch(/1234567890abcdef|quoted|a{20}|b{20}/);
  });
  it('takes the tokens of repositories out of a line, as they are and as they are sent', () => {
    const token = 'a-token-of-a-repository';
    const env = new Env(readEnv({ NODE_ENV: 'test' }).variables, {}, new Map(), new Map([['TOKEN', token]]));
    const sent = Buffer.from(`x-access-token:${token}`).toString('base64');
    expect(redactor(secretsOf(env))(`${token}; Authorization: Basic ${sent}`)).toBe(
      '[hidden]; Authorization: Basic [hidden]',
    );
  });
  it('takes all that CONFIG_FILE names a variable for out of a line, and the tokens of directories by their form', () => {
    const payment = { secretKey: 'sk_live_of_a_test', webhookSecret: 'a secret of the hook' };
    const env = new Env(readEnv({ NODE_ENV: 'test' }).variables, {}, new Map(), new Map(), new Map(), payment, 'a secret of the client'); // prettier-ignore
    const token = `mw_scim_${'a'.repeat(49)}`;
    const line = [payment.secretKey, payment.webhookSecret, 'a secret of the client', token].join(', ');
    expect(redactor(secretsOf(env))(line)).toBe('[hidden], [hidden], [hidden], [hidden]');
  });
  it('takes what workspaces bring out of a line: tokens of hosts by their form, what git sends, private keys', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const keys = (['pkcs1', 'pkcs8'] as const).map((type) => privateKey.export({ type, format: 'pem' }).toString());
    const brought = [
      ...[`ghp_${'a1'.repeat(18)}`, `ghs_${'b2'.repeat(18)}`, `github_pat_${'c3'.repeat(11)}_${'d4'.repeat(29)}`],
      ...[
        `glpat-${'e5'.repeat(10)}`,
        Buffer.from(`x-access-token:a token of no known form`).toString('base64'),
        ...keys,
      ],
    ];
    const careful = new PinoLogger('info', {
      destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
    careful.warn(brought.join(' and '));
    expect(lines).toMatchObject([{ msg: expect.stringMatching(/^\[hidden\](\s+and \[hidden\]){6}\s*$/) }]);
    expect(redactor()(`${keys[0]}, the key`)).toMatch(/^\[hidden\]\n?, the key$/);
  });
  it('says of a database error what helps, and nothing of the values of the statement', () => {
    const driver = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (text)=(private) exists' });
    const err = new QueryFailedError('INSERT …', ['private'], driver);
    logger.error({ requestId: 'r', err });
    logger.error(err);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line['err']).toMatchObject({ type: 'QueryFailedError', message: 'duplicate key', code: '23505' });
      expect(JSON.stringify(line)).not.toContain('private');
    }
  });
});
