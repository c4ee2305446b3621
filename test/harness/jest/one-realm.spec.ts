// What every test file relies on: docs/decisions/0065.
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import pg from 'pg';

interface Environment {
  teardown(): Promise<void>;
}

describe('A test file', () => {
  it("has Node's own globals: what Node and the packages make is of the classes that the test names", async () => {
    expect(await readFile('/nothing').catch((error: unknown) => error)).toBeInstanceOf(Error);
    expect(structuredClone([new Date()])).toStrictEqual([expect.any(Date)]);
    expect(
      await new pg.Client({ host: '127.0.0.1', port: 1 }).connect().catch((error: unknown) => error),
    ).toBeInstanceOf(Error);
  });

  it('has the packages that Node itself has loaded, however it asks for them', async () => {
    const required = createRequire(import.meta.url)('pg') as typeof pg;
    expect([pg, (await import('pg')).default]).toEqual([required, required]);
    expect(pg.Client).toBe(required.Client);
  });

  it('may import modules at once that have others in common', async () => {
    const [one, again, other] = await Promise.all([
      import('../../../src/operator/entities.js'),
      import('../../../src/operator/entities.js'),
      import('../../../src/compose.js'),
    ]);
    expect(one).toBe(again);
    expect(Object.keys(other)).toContain('composeApp');
  });

  it('cannot mock a module: others of its worker have the same one', () => {
    expect(() => jest.unstable_mockModule('pg', () => ({}))).toThrow('docs/decisions/0065');
    expect(() => jest.setMock('pg', {})).toThrow('docs/decisions/0065');
  });

  it('leaves nothing to the next one of its worker', async () => {
    const path = './one-realm-environment.mjs';
    const { default: Environment } = (await import(path)) as { default: new (config: object) => Environment };
    const seen = () => ({
      date: globalThis.Date,
      more: 'more' in globalThis,
      path: process.env['PATH'],
      added: process.env['MILLWRIGHT_ADDED'],
      listeners: process.listenerCount('SIGTERM'),
      exitCode: process.exitCode,
    });
    const before = seen();
    const environment = new Environment({ projectConfig: { fakeTimers: {} } });
    globalThis.Date = class extends Date {} as DateConstructor;
    Object.assign(globalThis, { more: 1 });
    Object.assign(process.env, { PATH: '/nowhere', MILLWRIGHT_ADDED: '1' });
    process.on('SIGTERM', () => undefined);
    process.exitCode = 7;
    const [storage, value] = [new AsyncLocalStorage<object>(), { held: 'by the timer of a package' }];
    const timer = storage.run(value, () => setTimeout(() => undefined, 60_000));
    await environment.teardown();
    clearTimeout(timer);
    expect([seen(), value]).toEqual([before, {}]);
    Logger.overrideLogger(false);
    expect(Logger.isLevelEnabled('debug')).toBe(false);
    await new Environment({ projectConfig: { fakeTimers: {} } }).teardown();
    expect(Logger.isLevelEnabled('debug')).toBe(true);
  });
});
