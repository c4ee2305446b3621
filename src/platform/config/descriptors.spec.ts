import { connectionLimit } from './descriptors.js';
import { ConfigurationError, readEnv } from './env.js';

const limit = (nofile: number, env: Record<string, string> = {}) => connectionLimit(readEnv(env), nofile);

describe('MAX_CONNECTIONS and nofile (reference §16)', () => {
  test.each([
    [1_048_576, 10_000],
    [Infinity, 10_000],
    [10_256, 10_000],
    [4_096, 3_840],
    [1_256, 1_000],
  ])('of %d descriptors %d are for connections, without a word', (nofile, most) => {
    expect(limit(nofile)).toEqual({ most, warning: null });
  });

  test('a limit that is small is called by its name, with the sum', () => {
    expect(limit(700)).toEqual({
      most: 444,
      warning:
        'The system lets this process open 700 files (the hard limit of nofile), so it takes 444 connections at once; it needs ' +
        '252 for itself (128 of them for the commands of WORKER_CONCURRENCY=16). Raise nofile (ulimit -Hn, LimitNOFILE=, ' +
        '--ulimit nofile=) to 10256 for 10000.',
    });
  });

  test('a process with much work keeps more back', () => {
    expect(limit(4_096, { WORKER_CONCURRENCY: '100' })).toMatchObject({ most: 4_096 - 924 });
    expect(limit(4_096, { WORKER_CONCURRENCY: '100', ROLE: 'api' })).toMatchObject({ most: 3_840 });
  });

  test('a limit that is too small for the work stops the boot', () => {
    const boot = () => limit(700, { WORKER_CONCURRENCY: '100' });
    expect(boot).toThrow(ConfigurationError);
    expect(boot).toThrow(/^nofile: a hard limit of at least 1924 is expected\. .* 700 files .* needs 924 for itself/);
  });

  test('MAX_CONNECTIONS counts when there are descriptors for them, else it stops the boot', () => {
    expect(limit(700, { MAX_CONNECTIONS: '448' })).toEqual({ most: 448, warning: null });
    expect(limit(100_000, { MAX_CONNECTIONS: '50000' })).toEqual({ most: 50_000, warning: null });
    expect(() => limit(700, { MAX_CONNECTIONS: '449' })).toThrow(/^MAX_CONNECTIONS: at most 448 is expected\. .* 700 /);
    expect(() => readEnv({ MAX_CONNECTIONS: '1' })).toThrow(/MAX_CONNECTIONS/);
  });

  test('the system is asked', () => {
    expect(connectionLimit(readEnv({ ROLE: 'api' })).most).toBeGreaterThan(100);
  });
});
