import { bootWorker, useService } from '../harness/app.js';
import { type Client, makeMember } from '../harness/client.js';
import { runTask } from '../harness/tasks.js';

const fence = (info: string, content = '') => `\`\`\`${info}\n${content}\n\`\`\``;

describe('Symbolic links of a workdir (reference §15)', () => {
  let client: Client;
  const service = useService(bootWorker);
  beforeAll(async () => {
    client = (await makeMember(service)).client;
  });

  it('are written through and published as what they lead to, while that is inside', async () => {
    const { status, result } = await runTask(
      client,
      [
        fence('bash', 'echo old > AGENTS.md; ln -s AGENTS.md CLAUDE.md; ln -s /workdir/AGENTS.md absolute.md'),
        fence('file path=CLAUDE.md', 'new'),
        fence('bash', 'test -L CLAUDE.md && grep -qx new AGENTS.md'),
        fence('publish path=CLAUDE.md'),
        fence('publish path=absolute.md'),
      ].join('\n\n'),
    );
    expect([status, result?.fileIds.length]).toEqual(['completed', 2]);
    for (const id of result?.fileIds ?? []) {
      expect((await client.get(`/v1/files/${id}/content`)).text).toBe('new\n');
    }
  });

  it.each([
    ['file path=out', 'text'],
    ['publish path=out', ''],
  ])('that lead out are refused by `%s`, in words', async (info, content) => {
    const text = [fence('bash', 'ln -s /etc/passwd out'), fence(info, content)].join('\n\n');
    const { status, statusReason } = await runTask(client, text);
    expect([status, statusReason?.code]).toEqual(['failed', 'runbook_block_failed']);
    expect(statusReason?.message).toContain('out leads out of /workdir, /tmp and /home/agent by a link');
  });
});
