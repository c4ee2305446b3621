import { offeredTool } from '../../../../test/harness/mcp/servers.js';
import { McpCallTool, McpSearchTool } from './search-tools.js';

const NAMES = Array.from({ length: 12 }, (_, n) => `page_${n}`);
const tool = (name: string, server: string, description = '') => ({ ...offeredTool(name, server), description });
const tools = [
  ...NAMES.map((name) => tool(name, 'docs')),
  tool('create_issue', 'tracker', 'Makes an issue.'),
  tool('list', 'tracker', 'Lists each issue and page.'),
];
const search = new McpSearchTool(tools);
const found = async (query: string, server?: string) => {
  const outcome = await search.execute({ query, ...(server !== undefined && { server }) });
  if (outcome.status !== 'success') throw new Error(`It is ${outcome.status}.`);
  const text = outcome.output as string;
  return text.startsWith('[') ? (JSON.parse(text) as { name: string }[]).map(({ name }) => name) : text;
};

describe('The search among tools of servers (reference §28)', () => {
  it('finds the eight that fit best, those with a word in their name first', async () => {
    expect(await found('a page')).toHaveLength(8);
    expect(await found('issue')).toEqual(['mcp__tracker__create_issue', 'mcp__tracker__list']);
    expect(search.description).toContain('docs, tracker');
  });

  it('is of one server where that is named', async () => {
    expect(await found('page', 'tracker')).toEqual(['mcp__tracker__list']);
    expect(await found('page', 'nobody')).toBe('No tool fits. There are: none.');
  });

  it('names what there is where nothing fits', async () => {
    expect(await found('database', 'tracker')).toBe(
      'No tool fits. There are: mcp__tracker__create_issue, mcp__tracker__list.',
    );
  });

  it('and the call stand for tools of servers alone', () => {
    const passed = (name: string) => new McpCallTool().passesOn({ tool: name, arguments: { a: 1 } });
    expect(passed('docs__page_1')).toEqual({ name: 'mcp__docs__page_1', input: { a: 1 } });
    expect(passed('bash').name).toBe('mcp__bash');
  });
});
