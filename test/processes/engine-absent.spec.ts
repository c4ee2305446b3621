import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { engineOf } from '../harness/engines/worker.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const DIST = new URL('../../dist/', import.meta.url).href;
/** What a turn of an engine is made of. */
const OF_ENGINES = /^engine\/engines\/(acp|wires)\//;

describe('Engines (reference §30)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  beforeAll(async () => (db = await createDatabase()));
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  /** The files of the build that a service has loaded until it stopped. */
  async function loadedBy(config: object, enough: (service: ServiceProcess) => Promise<unknown>): Promise<string[]> {
    const path = mkdtempSync(join(folder.path, 'run-'));
    const [file, coverage] = [join(path, 'millwright.json'), join(path, 'coverage')];
    writeFileSync(file, JSON.stringify(config));
    // Node then writes down, as it ends, which scripts it has loaded.
    const env = {
      DATABASE_URL: db.url,
      SECRET_KEY,
      DATA_DIR: folder.path,
      CONFIG_FILE: file,
      NODE_V8_COVERAGE: coverage,
    };
    const service = await ServiceProcess.spawn(env);
    try {
      await service.ready(180_000);
      await enough(service);
    } finally {
      await service.end();
    }
    const scripts = readdirSync(coverage).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] };
      return result.map(({ url }) => url);
    });
    return scripts.filter((url) => url.startsWith(DIST)).map((url) => url.slice(DIST.length));
  }

  it('are not loaded where none is configured, and are where one is', async () => {
    const models = [{ id: 'runbook', provider: 'runbook' }];
    const without = await loadedBy({ models }, () => Promise.resolve());
    expect(without).toContain('engine/engines/engine-programs.js');
    expect(without.filter((file) => OF_ENGINES.test(file))).toEqual([]);

    const driven = { id: 'driven', engine: 'program', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' };
    const config = { models: [...models, driven], engines: { program: engineOf() } };
    // It is tried once, behind the boot.
    const tried = (service: ServiceProcess) =>
      until('the trial', () => /The engine program .* was ready/.test(service.log), { within: 120_000 });
    const found = await loadedBy(config, tried);
    expect(found.filter((file) => OF_ENGINES.test(file))).toContain('engine/engines/acp/trial.js');
  }, 600_000);
});
