// The lines of docs/mcp.md, which people paste into the files of their tools.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../docs/mcp.md', import.meta.url)), 'utf8');
const URL_OF_MCP = 'https://millwright.example.com/mcp';
const KEY = 'MILLWRIGHT_API_KEY';

interface Server {
  type?: string;
  url?: string;
  headers?: { Authorization?: string };
  command?: string;
  args?: string[];
}
type File = Record<'mcpServers' | 'servers', Record<string, Server>> & {
  inputs?: { id: string; password?: boolean }[];
};

/** The blocks of a section, by their language. */
function blocks(section: string, language: string): string[] {
  const [, text = ''] = DOCUMENT.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, body = '']) => (kind === language ? [body] : []));
} // prettier-ignore

const one = (section: string, language: string): string => {
  const found = blocks(section, language);
  expect([section, language, found.length]).toEqual([section, language, 1]);
  return found[0] ?? '';
};
const json = (section: string) => JSON.parse(one(section, 'json')) as File;

/** TOML as these files have it: tables, and keys with a text or a list of texts, which are written as in JSON. */
function toml(text: string): Record<string, Record<string, unknown>> {
  const tables: Record<string, Record<string, unknown>> = {};
  let table: Record<string, unknown> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '' && !one.startsWith('#'))) {
    const [, name] = /^\[([\w.-]+)\]$/.exec(line) ?? [];
    const [, key, value = ''] = /^([\w-]+) = (.+)$/.exec(line) ?? [];
    if (name !== undefined) table = tables[name] = {};
    else if (key !== undefined) table[key] = JSON.parse(value) as unknown;
    else throw new Error(`No TOML: ${line}`);
  }
  return tables;
}

describe('docs/mcp.md (reference §29)', () => {
  it('has the command and the file of Claude Code', () => {
    const line = one('Claude Code', 'sh').trim();
    expect(line).toBe(`claude mcp add --transport http millwright ${URL_OF_MCP} --header "Authorization: Bearer $${KEY}"`);
    const Authorization = `Bearer \${${KEY}}`;
    expect(json('Claude Code')).toEqual({ mcpServers: { millwright: { type: 'http', url: URL_OF_MCP, headers: { Authorization } } } });
  }); // prettier-ignore

  it('has the file of Codex, which names the variable of the key', () => {
    const table = { url: URL_OF_MCP, bearer_token_env_var: KEY };
    expect(toml(one('Codex', 'toml'))).toEqual({ 'mcp_servers.millwright': table });
  });

  it('has the file of Cursor', () => {
    const Authorization = `Bearer \${env:${KEY}}`;
    expect(json('Cursor')).toEqual({ mcpServers: { millwright: { url: URL_OF_MCP, headers: { Authorization } } } });
  });

  it('has the file of VS Code, which asks for the key that the header has', () => {
    const { inputs = [], servers } = json('VS Code');
    expect(inputs).toHaveLength(1);
    expect(inputs[0]).toMatchObject({ type: 'promptString', password: true });
    const Authorization = `Bearer \${input:${inputs[0]?.id}}`;
    expect(servers).toEqual({ millwright: { type: 'http', url: URL_OF_MCP, headers: { Authorization } } });
  });

  it('has the program for clients that only start programs, in the forms of all', () => {
    const section = 'Tools that only start programs';
    const program = { command: 'mw', args: ['mcp'] };
    expect(one(section, 'sh').trim()).toBe('claude mcp add millwright -- mw mcp');
    expect(json(section)).toEqual({ mcpServers: { millwright: program } });
    expect(toml(one(section, 'toml'))).toEqual({ 'mcp_servers.millwright': program });
  });

  it('has no key in any of them', () => {
    expect(DOCUMENT).not.toMatch(/mw_[ps]k_\w/);
  });
});
