import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { Logger, type ModuleMetadata } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { z } from 'zod';
import { composeApp } from '../../src/compose.js';
import { configFileSchema } from '../../src/platform/config/config-file.js';
import { EngineSettings, settingsOf } from '../../src/engine/agent/engine-settings.js';
import { Env, readEnv } from '../../src/platform/config/env.js';
import type { Extension } from '../../src/platform/plugins/extension.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { configureHttp } from '../../src/platform/http/configure-http.js';
import { createDatabase, type TestDatabase } from './database.js';
import { FAR_LIMITS, FAR_LIMITS_ENV } from './limits.js';
import { DataSource } from 'typeorm';
import { refuseSecondConnections } from './one-connection.js';
import { sharedRedis } from './shared-redis.js';

// What the framework logs outside of an application; the application's own logger follows LOG_LEVEL.
Logger.overrideLogger(['fatal']);

export interface TestApp {
  app: NestExpressApplication;
  /** Origin of the listening service, `http://127.0.0.1:PORT`. */
  url: string;
  db: TestDatabase;
  close(): Promise<void>;
}

export interface BootOptions {
  /** Environment variables over the test defaults. */
  env?: Record<string, string>;
  /** Parts of CONFIG_FILE, over those of the file that `env` names. */
  config?: z.input<ReturnType<typeof configFileSchema>>;
  /** What `src/extensions.ts` would list. The tests of the product have none unless they say so. */
  extensions?: readonly Extension[];
  /** Further modules that bring nothing but providers and routes. */
  imports?: NonNullable<ModuleMetadata['imports']>;
  /** Overrides providers before the module is compiled. */
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** Boot on this database instead of a new one; it is not dropped at the end. */
  db?: TestDatabase;
}

/**
 * Boots an api (`ROLE=api`) on a free port, on a database of its own, as `main.ts` would: about 0.1 s. No client reaches its rate
 * limits: those refill by the clock, and a slow machine would decide. A test of limits asks for its own, with `rateLimits: {}` for
 * those of the product.
 */
export async function bootApp(options: BootOptions = {}): Promise<TestApp> {
  const db = options.db ?? (await createDatabase());
  const { variables, file, modelKeys, repositoryTokens, mcpValues, paymentSecrets, signInSecret } = readEnv({
    NODE_ENV: 'test',
    PATH: process.env['PATH'],
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'fatal',
    DATABASE_URL: db.url,
    SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
    ROLE: 'api',
    ...FAR_LIMITS_ENV,
    ...(await sharedRedis({ DATABASE_URL: db.url })),
    ...options.env,
  });
  const extensions = new ExtensionSet(options.extensions ?? []);
  const config = configFileSchema(extensions).parse(options.config ?? {});
  const whole = { ...FAR_LIMITS, ...file, ...config };
  // Secrets of a test stand in `env` under the names that `config` gives them, as they would in the process.
  const secret = (name = '') => options.env?.[name];
  const { billing, signIn } = config;
  const payment = billing && {
    secretKey: secret(billing.secretKeyEnv) ?? '',
    webhookSecret: secret(billing.webhookSecretEnv) ?? '',
  };
  const secrets = [payment ?? paymentSecrets, secret(signIn?.clientSecretEnv) ?? signInSecret] as const;
  const env = new Env(variables, whole, modelKeys, repositoryTokens, mcpValues, ...secrets);
  const { imports = [] } = composeApp(env, extensions);
  const builder = Test.createTestingModule({ imports: [...imports, ...(options.imports ?? [])] });
  // A model that a test holds is no wait that anybody is told of: a test of waits has its own settings.
  const settings = Object.assign(settingsOf(env), { waitToldMs: 3_600_000 });
  builder.overrideProvider(EngineSettings).useValue(settings);
  const module = await (options.override?.(builder) ?? builder).compile();
  refuseSecondConnections(module.get(DataSource, { strict: false }));
  const app = module.createNestApplication<NestExpressApplication>({ bodyParser: false });
  configureHttp(app, env);
  try {
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    // Its connections and its temporary folder would outlive it.
    await app.close();
    throw error;
  }
  return {
    app,
    url: await app.getUrl(),
    db,
    close: async () => {
      await app.close();
      if (options.db === undefined) await db.drop();
    },
  };
}

/**
 * Boots an api and a worker in one process (`ROLE=all`), for tests in which tasks are worked on: about 0.6 s. A lease of 12 s runs out
 * when the machine is busy with other tests, and a run that is taken over asks its model a second time.
 */
export function bootWorker(options: BootOptions = {}): Promise<TestApp> {
  return bootApp({ ...options, env: { ROLE: 'all', LEASE_SECONDS: '600', ...options.env } });
}

/** What {@link useService} booted and has not closed. */
const opened: TestApp[] = [];

/**
 * One service for the tests of the block that calls this: its hooks boot it before them and close it after them, the last
 * one booted first. The handle stands for it as soon as its hook has run: hooks that are declared later may use it, and
 * an `afterAll` that is declared later ends what the service worked on.
 */
export function useService(boot: () => Promise<TestApp> = bootApp): TestApp {
  let booted: TestApp | null = null;
  beforeAll(async () => {
    booted = await boot();
    opened.push(booted);
  }, 60_000);
  afterAll(() => opened.pop()?.close(), 60_000);
  const service = (): TestApp => {
    if (booted === null) throw new Error('The service of this block is not booted yet.');
    return booted;
  };
  return {
    get app() {
      return service().app;
    },
    get url() {
      return service().url;
    },
    get db() {
      return service().db;
    },
    close: () => service().close(),
  };
}
