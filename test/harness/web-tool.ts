// The tool web_fetch as a task has it, whose hosts are those of a test.
import { configFileSchema } from '../../src/platform/config/config-file.js';
import { readEnv } from '../../src/platform/config/env.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import type { ToolContext } from '../../src/engine/agent/agent-tool.js';
import { WebFetchTool } from '../../src/engine/agent/tools/web-fetch.js';
import { WebRequests } from '../../src/engine/web/web-requests.js';
import { type AuthorityFile, resolverOf } from './web-hosts.js';

/** @param web of `CONFIG_FILE`; without it agents read no pages. `allowed.test` and `b.wild.test` lead to this machine, and no other name. */
export function webTool(authority: AuthorityFile, web?: object): WebFetchTool {
  const env = readEnv({});
  const file = configFileSchema().parse({ web, sandbox: { caFile: authority.path } });
  const requests = new WebRequests(Object.assign(env, { file }));
  requests.egress = new Egress(
    ['127.0.0.1/32'],
    resolverOf({ 'allowed.test': ['127.0.0.1'], 'b.wild.test': ['127.0.0.1'] }).resolver,
  );
  return new WebFetchTool(env, requests, new Metrics());
}

/** Of a task that may read pages, and of which nobody has named one. */
export function webContext(more: Partial<ToolContext> = {}): ToolContext {
  let count = 0;
  return {
    ...{ taskId: 'task', workspaceId: 'w', userId: 'u', toolCallId: 'c', signal: new AbortController().signal },
    sandbox: () => Promise.reject(new Error('No sandbox is needed.')),
    web: { begin: () => ++count, isSeen: () => false },
    ...more,
  };
}
