import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import { ListCache } from './list-cache.js';

const server = (kind: 'program' | 'url', name = 'docs') => ({ kind, name }) as McpServerConfig;
const list = (name: string, description = '') => ({ revision: 'x', tools: [{ name, description, inputSchema: {} }] });

describe('The lists that a worker knows (reference §28)', () => {
  it('are those of a program for its workspace alone, and of a url for all', () => {
    const cache = new ListCache();
    const [ours, theirs] = [cache.of('ours'), cache.of('theirs')];
    for (const kind of ['program', 'url'] as const) ours.keep(server(kind), list(kind), null);
    expect(ours.find(server('program'))).toEqual(list('program'));
    expect(theirs.find(server('program'))).toBeNull();
    expect(theirs.find(server('url'))).toEqual(list('url'));
    theirs.forget(server('program'));
    expect(ours.find(server('program'))).not.toBeNull();
    theirs.forget(server('url'));
    expect(ours.find(server('url'))).toBeNull();
  });

  it('count for the time that the server says', () => {
    const lists = new ListCache().of('ours');
    lists.keep(server('url'), list('a'), 0);
    expect(lists.find(server('url'))).toBeNull();
  });

  it('are bounded: those that are known longest go first', () => {
    const lists = new ListCache().of('ours');
    for (let n = 0; n < 36; n++) lists.keep(server('program', `s${n}`), list('a', 'x'.repeat(1024 ** 2)), null);
    expect(lists.find(server('program', 's3'))).toBeNull();
    expect(lists.find(server('program', 's6'))).not.toBeNull();
    expect(lists.find(server('program', 's35'))).not.toBeNull();
  });
});
