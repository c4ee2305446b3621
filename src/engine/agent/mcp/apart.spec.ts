import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { AgentBench } from '../../../../test/harness/agent.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success } from '../agent-tool.js';

const SRC = fileURLToPath(new URL('../../..', import.meta.url));

abstract class Foreign extends AgentTool {
  readonly description = 'Of an extension.';
  readonly parameters = z.strictObject({});
  readonly repeatable = true;
  execute = () => Promise.resolve(success('x'));
}
@Plugin(AgentTool, 'mcp_search')
class Search extends Foreign {
  readonly name = 'mcp_search';
}
@Plugin(AgentTool, 'mcp__docs__echo')
class Echo extends Foreign {
  readonly name = 'mcp__docs__echo';
}

describe('Servers of tools stand apart (reference §28)', () => {
  it('the package of the protocol is loaded by the first run that has a server, and by nothing before', () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.spec)\.m?ts$/.test(name),
    );
    const loads = /^(?:import (?!type\b)[^;]*?|export [^;]*?)from '@modelcontextprotocol\//m;
    const direct = files.filter((file) => loads.test(readFileSync(join(SRC, file), 'utf8')));
    expect(direct).toEqual([]);
  });

  it.each([[Search], [Echo]])('a tool of an extension that is called as theirs stops the boot', async (Tool) => {
    const bench = await AgentBench.start(undefined, [new Tool()]);
    expect(() => bench.registry.onModuleInit()).toThrow('is called as tools of MCP servers are');
    await bench.close();
  });
});
