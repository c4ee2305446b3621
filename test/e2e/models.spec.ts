import { bootApp } from '../harness/app.js';
import { makeMember } from '../harness/client.js';

describe('Models (reference §15)', () => {
  it('without a configured provider one model exists, runbook, with all three efforts', async () => {
    const service = await bootApp();
    const { client } = await makeMember(service, { scopes: ['billing:read'] });
    const { status, body } = await client.get('/v1/models');
    expect(status).toBe(200);
    expect(body).toEqual({
      models: [
        {
          id: 'runbook',
          name: expect.any(String),
          description: expect.stringMatching(/not an AI/i),
          default: true,
          efforts: ['low', 'medium', 'high'],
          defaultEffort: expect.any(String),
          input: ['text'],
          contextWindow: null,
          engine: null,
          status: 'available',
        },
      ],
    });
    await service.close();
  });

  it("a configured provider's model is shown under its own name, the first is the default, and the key never", async () => {
    const service = await bootApp({
      env: {
        OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:9/v1',
        OPENAI_COMPATIBLE_KEY: 'sk-secret-value',
        OPENAI_COMPATIBLE_MODEL: 'acme/coder-7',
        ANTHROPIC_API_KEY: 'sk-ant-secret-value',
      },
    });
    const { client } = await makeMember(service);
    const { body, text } = await client.get<{ models: { id: string; default: boolean }[] }>('/v1/models');
    expect(body.models.map(({ default: first }) => first)).toEqual([true, false]);
    expect(body.models[1]?.id).toBe('coder-7');
    expect(text).not.toMatch(/secret-value|acme|127\.0\.0\.1/);
    await service.close();
  });
});
