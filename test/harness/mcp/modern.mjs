// An MCP server over stdio for tests, of the newer revision alone, without packages.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const complete = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };
/** Who is told of changes. */
let listener;
const tell = (what, params = {}) => {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': listener };
  say({ method: `notifications/${what}`, params: { ...params, _meta } });
};
const tool = (name) => ({ name, inputSchema: { type: 'object' } });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  switch (method) {
    case 'server/discover':
      return say({
        id,
        result: { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } },
      });
    case 'subscriptions/listen':
      listener = id;
      return tell('subscriptions/acknowledged', { notifications: { toolsListChanged: true } });
    case 'tools/list':
      return say({ id, result: { ...complete, tools: [tool('get_meta'), tool('ask_person')] } });
    case 'tools/call': {
      if (params.name === 'ask_person') {
        const asked = {
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object' } },
        };
        return say({ id, result: { resultType: 'input_required', inputRequests: { who: asked }, requestState: 'x' } });
      }
      if (params.name === 'change_list') tell('tools/list_changed');
      return say({
        id,
        result: { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(params._meta) }] },
      });
    }
    default:
      return say({ id, error: { code: -32601, message: 'Method not found' } });
  }
});
