// Files that are none: what waits for a writer, or has no end.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { AgentBench } from '../../../../test/harness/agent.js';
import type { JsonValue } from '../../models/conversation.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';

let bench: AgentBench;
let session: SandboxSession;
const signal = new AbortController().signal;
beforeAll(async () => {
  bench = await AgentBench.start();
  session = await bench.sandbox.open({ taskId: '', signal });
  execFileSync('mkfifo', [join(bench.sandbox.folder, 'pipe')]);
});
afterAll(async () => {
  await session.close();
  await bench.close();
});

describe('A tool of files (reference §15)', () => {
  it.each<[string, JsonValue]>([
    ['read', { path: 'pipe' }],
    ['edit', { path: 'pipe', oldText: 'a', newText: 'b' }],
    ['grep', { pattern: 'a', path: 'pipe' }],
    ['grep', { pattern: 'a', path: '/dev/zero' }],
  ])('%s refuses what is no regular file: %j', async (name, input) => {
    expect(await bench.use(session, name, input)).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/not a (regular )?file/) as unknown,
    });
  });
});
