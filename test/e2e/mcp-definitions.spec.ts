// What a client's model is told of the tools.
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { McpClient } from '../harness/mcp.js';

interface Definition {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: string; properties: Record<string, { description?: string }>; required?: string[] };
  annotations: Record<string, boolean>;
}

const READS = { readOnlyHint: true, openWorldHint: false };
const OPEN = { destructiveHint: false, openWorldHint: true };
/** The columns of the table: fields, those that are needed, and hints. */
const TABLE: Record<string, [fields: string, needed: string, hints: Record<string, boolean>]> = {
  create_task: ['content title projectId repository model effort approvals budget tags metadata outputSchema mcpServers uploadIds idempotencyKey waitSeconds', 'content', OPEN],
  get_task: ['taskId waitSeconds', 'taskId', READS],
  list_tasks: ['status projectId tag q limit cursor', '', READS],
  list_messages: ['taskId order after limit cursor', 'taskId', READS],
  send_message: ['taskId content mode uploadIds idempotencyKey waitSeconds', 'taskId content', OPEN],
  answer_task: ['taskId interactionId content optionIds decision reason remember idempotencyKey waitSeconds', 'taskId interactionId', { destructiveHint: true, openWorldHint: true }],
  cancel_task: ['taskId', 'taskId', { destructiveHint: true, idempotentHint: true, openWorldHint: false }],
  list_files: ['taskId limit cursor', 'taskId', READS],
  list_projects: ['limit cursor', '', READS],
  list_models: ['', '', READS],
  read_file: ['fileId offset length', 'fileId', READS],
  upload_file: ['name text base64', 'name', { destructiveHint: false, openWorldHint: false }],
  list_automations: ['limit cursor', '', READS],
  run_automation: ['automationId idempotencyKey', 'automationId', OPEN],
}; // prettier-ignore
const words = (text: string) => text.split(' ').filter(Boolean);

describe('The definitions of the tools (reference §29)', () => {
  let member: Member;
  let mcp: McpClient;
  let tools: Definition[];
  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    mcp = new McpClient(service.url, member.key.secret);
    tools = (await mcp.askModern<{ tools: Definition[] }>('tools/list')).body.result.tools;
  });
  const tool = (name: string) => tools.find((one) => one.name === name);

  it('have the fields and hints of the table, and no others', () => {
    const told = tools.map(({ name, inputSchema: { properties, required = [] }, annotations }) => [name, [Object.keys(properties), required, annotations]] as const); // prettier-ignore
    const expected = Object.entries(TABLE).map(([name, [fields, needed, hints]]) => [name, [words(fields), words(needed), hints]] as const); // prettier-ignore
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected));
  });

  it('say when to give an idempotencyKey, and that an approval is a person’s decision', () => {
    const keyed = tools.filter(({ inputSchema }) => 'idempotencyKey' in inputSchema.properties);
    expect(keyed.map(({ name }) => name)).toEqual(['create_task', 'send_message', 'answer_task', 'run_automation']);
    for (const { inputSchema } of keyed) {
      expect(inputSchema.properties['idempotencyKey']?.description).toMatch(/give one when you may call again/i);
    }
    expect(tool('answer_task')?.description).toMatch(/approval is a person's decision/i);
    for (const { title, description } of tools) expect([title, description]).not.toContain('');
  });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25', undefined])(
    'are the same in revision %s, and at most 10 KiB',
    async (revision) => {
      const headers = revision === undefined ? {} : { 'MCP-Protocol-Version': revision };
      const { result } = (await mcp.ask<{ tools: Definition[] }>('tools/list', undefined, headers)).body;
      expect(result).toEqual({ tools });
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(10 * 1024);
    },
  );
});
