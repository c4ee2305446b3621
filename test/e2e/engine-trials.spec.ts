// What the service finds out about its engines by itself (reference §30).
import { jest } from '@jest/globals';
import { EnginePrograms } from '../../src/engine/engines/engine-programs.js';
import { SandboxBusyError } from '../../src/engine/sandbox/sandbox.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { examine } from '../../src/operator/doctor/doctor.js';
import { enginesCheck } from '../../src/operator/doctor/engines.check.js';
import { configFileSchema } from '../../src/platform/config/config-file.js';
import { readEnv } from '../../src/platform/config/env.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { type TestApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf } from '../harness/engines/worker.js';
import { until } from '../harness/until.js';

async function statusesOf(service: TestApp): Promise<Record<string, string>> {
  const { client } = await makeMember(service);
  const { body } = await client.get<{ models: { id: string; status: string }[] }>('/v1/models');
  return Object.fromEntries(body.models.map(({ id, status }) => [id, status]));
}

describe('Trials of engines (reference §30)', () => {
  const absent = engineOf({}, { command: ['node', '{path}/none.mjs'] });
  const late = engineOf({}, { prepare: 'sleep 11', startSeconds: 10 });
  let model: FakeModel;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = { absent, late, program: engineOf() };
    return bootWithEngines(model, engines, { override: (builder) => builder });
  });
  afterAll(() => model.stop());

  it('at the boot of a worker show the models of a broken one as unavailable, and call no model', async () => {
    const statuses = () => statusesOf(service);
    await until('the trial', async () => (await statuses())['absent'] === 'unavailable', { within: 60_000 });
    expect(await statuses()).toMatchObject({ program: 'available', scripted: 'available' });
    const memoryOf = async (name: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      const [, bytes] = new RegExp(`millwright_engine_memory_bytes\\{engine="${name}"\\} (\\d+)`).exec(text) ?? [];
      return bytes;
    };
    const bytes = await until('its memory', () => memoryOf('program'), { within: 90_000 });
    expect(Number(bytes)).toBeGreaterThan(20 * 1024 ** 2);
    // One that was late is not broken.
    expect(await memoryOf('late')).toBeDefined();
    expect((await statuses())['late']).toBe('available');
    expect(model.requests).toEqual([]);
  }, 210_000);

  it('have a line of doctor each: what was found, which tools are known of, or why it does not work', async () => {
    const reading = engineOf({}, { reads: ['look', 'shell'], wire: 'anthropic-messages' });
    const models = ['program', 'absent', 'late', 'reading'].map((id) => ({
      id,
      engine: id,
      provider: id === 'reading' ? 'anthropic' : 'openai-compatible',
      baseUrl: model.url,
    }));
    const file = configFileSchema().parse({ engines: { program: engineOf(), absent, late, reading }, models });
    const env = Object.assign(readEnv({ ANTHROPIC_API_KEY: 'of no use' }), { file });
    const findings = await examine(env, new ExtensionSet([]), { checks: [enginesCheck] });
    const lines = Object.fromEntries(findings.map(({ name, status, detail }) => [name, `${status}: ${detail}`]));
    expect(lines['engine program']).toMatch(
      /^warn: Version 1\.0\.0, ready after .*, \d+ MiB, 2 tools\. Neither in hide nor in reads: shell\.$/,
    );
    expect(lines['engine late']).toMatch(/^warn: Version 1\.0\.0, ready after .* In a task it has 10 s for that\.$/);
    expect(lines['engine reading']).toMatch(/^ok: Version 1\.0\.0, ready after /);
    expect(lines['engine absent']).toMatch(/^fail: The engine absent: It ended with exit code 1\..*none\.mjs/s);
    expect(model.requests).toEqual([]);
  }, 210_000);
});

describe('A trial of an engine without a sandbox (reference §30)', () => {
  let model: FakeModel;
  let refused = 0;
  const service = useService(async () => {
    model = await FakeModel.start();
    jest.spyOn(SandboxSelector.prototype, 'open').mockImplementation(() => {
      refused++;
      return Promise.reject(new SandboxBusyError('There is no place.'));
    });
    return bootWithEngines(model, { program: engineOf() }, { override: (builder) => builder });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await model.stop();
  });

  it('says nothing of the engine: its models stay available', async () => {
    await until('the trial', () => refused > 0);
    const { trials } = service.app.get<{ trials: Promise<void> }>(EnginePrograms, { strict: false });
    await trials;
    expect(await statusesOf(service)).toMatchObject({ program: 'available' });
  });
});
