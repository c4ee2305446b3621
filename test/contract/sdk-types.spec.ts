import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readdirSync } from 'node:fs';
import { CLIENT_VERBS } from '../../src/operator/verbs/client-verbs.js';
import { bootApp, useService } from '../harness/app.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const service = useService(bootApp);

describe('The packages for clients (reference §19)', () => {
  it('have the types that the document of this service gives: else run scripts/sdk-types.mjs', async () => {
    const document = await (await fetch(`${service.url}/openapi.json`)).text();
    // In a process of its own: the compiler takes 100 MB.
    const script = `
      const { schemaText } = await import('${new URL('../../scripts/sdk-types.mjs', import.meta.url).href}');
      const text = await new Response(process.stdin).text();
      process.stdout.write(await schemaText(JSON.parse(text)));`;
    const made = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: ROOT,
      input: document,
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(made.stderr).toBe('');
    expect(made.stdout === readFileSync(`${ROOT}/packages/sdk/src/schema.ts`, 'utf8')).toBe(true);
  });

  it('are of the version of the service', () => {
    const about = (folder: string) =>
      JSON.parse(readFileSync(`${ROOT}/${folder}/package.json`, 'utf8')) as {
        version: string;
        dependencies: Record<string, string>;
      };
    const { version } = about('.');
    expect([about('packages/sdk').version, about('packages/cli').version]).toEqual([version, version]);
    expect(about('packages/cli').dependencies).toEqual({ '@millwright/sdk': version });
    expect(Object.keys(about('packages/sdk').dependencies)).toEqual(['eventsource-parser']);
    expect(readdirSync(`${ROOT}/packages`).sort()).toEqual(['cli', 'sdk']);
  });

  it('have the verbs that `millwright` hands over, and no other', async () => {
    const { VERBS } = await import('../../packages/cli/src/verbs.js');
    expect([...CLIENT_VERBS].sort()).toEqual([...Object.keys(VERBS), 'webhooks'].sort());
  });
});
