import { fileURLToPath } from 'node:url';
import { examine } from '../../src/operator/doctor/doctor.js';
import { mcpCheck } from '../../src/operator/doctor/mcp.check.js';
import { configFileSchema } from '../../src/platform/config/config-file.js';
import { readEnv } from '../../src/platform/config/env.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';

const FOLDER = fileURLToPath(new URL('../harness/mcp', import.meta.url));

describe('doctor of MCP servers (reference §28)', () => {
  it('has a line for each: what it found, or why it cannot be used', async () => {
    const program = (behaviour: string) => ({ command: 'node', args: ['/opt/programs/mcp/program.mjs', behaviour] });
    const file = configFileSchema().parse({
      sandbox: { programs: [FOLDER] },
      mcpServers: {
        docs: program('plain'),
        odd: program('odd'),
        absent: { command: 'no-such-program' },
        needed: { url: 'http://127.0.0.1:1/mcp', required: true },
      },
    });
    const findings = await examine(Object.assign(readEnv({}), { file }), new ExtensionSet([]), { checks: [mcpCheck] });
    const lines = Object.fromEntries(findings.map(({ name, status, detail }) => [name, `${status}: ${detail}`]));
    expect(lines['mcp docs']).toMatch(/^ok: Revision 2025-06-18, 19 tools, \d+ bytes of definitions, in /);
    expect(lines['mcp odd']).toMatch(/^warn: Revision 2025-06-18, 21 tools.* Left out: .*no_schema/);
    expect(lines['mcp absent']).toMatch(/^warn: it cannot be reached/);
    expect(lines['mcp needed']).toMatch(/^fail: it cannot be reached/);
  });
});
