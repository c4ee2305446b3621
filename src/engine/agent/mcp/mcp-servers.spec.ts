import { configFileSchema } from '../../../platform/config/config-file.js';
import { readEnv } from '../../../platform/config/env.js';
import { fingerprintOf, McpServers } from './mcp-servers.js';

const servers = (mcpServers: object) =>
  new McpServers(Object.assign(readEnv({}), { file: configFileSchema().parse({ mcpServers }) }));
const docs = { command: 'node', default: true };
const github = { url: 'https://mcp.example/mcp', default: true };

describe('The servers of the operator (reference §28)', () => {
  it('that a task has by default are those of a url too, unless these are barred', () => {
    const all = servers({ github, docs, more: { command: 'node' } });
    expect(all.usual('default')).toEqual(['docs', 'github']);
    expect(all.ofUrls()).toEqual(['github']);
    expect(all.usual('default', all.ofUrls())).toEqual(['docs']);
  });

  it('are open to the workspaces that they name, and to all when they name none', () => {
    const all = servers({ docs, ours: { ...docs, workspaces: ['ours'] } });
    expect(all.openTo('ours').map(({ name }) => name)).toEqual(['docs', 'ours']);
    expect(all.openTo('theirs').map(({ name }) => name)).toEqual(['docs']);
    expect(() => all.check('theirs', ['docs', 'ours'])).toThrow('mcpServers[1]');
  });

  it('are others with another configuration', () => {
    const [one] = servers({ docs }).openTo('x');
    const [other] = servers({ docs: { ...docs, args: ['x'] } }).openTo('x');
    if (one === undefined || other === undefined) throw new Error('There are none.');
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });
});
