import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootApp, type BootOptions } from '../harness/app.js';
import { makeMember } from '../harness/client.js';

const modelsOf = async (env?: BootOptions['env']) => {
  const service = await bootApp(env === undefined ? {} : { env });
  try {
    const { client } = await makeMember(service, { role: 'viewer', scopes: ['billing:read'] });
    const { status, body } = await client.get<{ models: Record<string, unknown>[] }>('/v1/models');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['models']);
    return body.models;
  } finally {
    await service.close();
  }
};

describe('GET /v1/models (reference §15)', () => {
  it('without a provider there is the runbook, which is not an AI and says so', async () => {
    const models = await modelsOf();
    expect(models).toHaveLength(1);
    expect(models[0]).toMatchObject({ id: 'runbook', default: true, efforts: ['low', 'medium', 'high'] });
    expect(models[0]?.['status']).toBe('available');
    expect(String(models[0]?.['description'])).toMatch(/not an AI/i);
  });
  it('shows exactly the documented keys; provider, address and price stay inside', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'models-'));
    const file = join(folder, 'config.json');
    const house = {
      id: 'house',
      name: 'House model',
      provider: 'openai-compatible',
      model: 'inner-name',
      baseUrl: 'http://127.0.0.1:1/v1',
      efforts: ['low', 'high'],
      defaultEffort: 'low',
      contextWindow: 128_000,
      input: ['text', 'image'],
      prices: { input: 1, output: 2 },
    };
    const small = { ...house, id: 'small', name: 'Small', default: true };
    await writeFile(file, JSON.stringify({ models: [house, small] }));
    try {
      const models = await modelsOf({ CONFIG_FILE: file });
      const { provider: _p, model: _m, baseUrl: _b, prices: _c, ...shown } = house;
      const rest = { description: '', status: 'available' };
      expect(models).toEqual([
        { ...shown, ...rest, default: false },
        { ...shown, ...rest, id: 'small', name: 'Small', default: true },
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
