import { Injectable, Logger } from '@nestjs/common';
import type { AgentInput } from '../../engine/agent/agent-engine.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { KEEP_OFFER, SAW } from '../../resources/mcp-servers/mcp-servers.sql.js';
import type { ClaimedRun } from './claimed-run.js';
import type { TaskInput } from './run-loader.sql.js';

/** The servers of the task of a run, what its model was offered of them, and what is seen of them meanwhile (reference §28). */
@Injectable()
export class RunMcp {
  private readonly logger = new Logger(RunMcp.name);

  constructor(
    private readonly database: Database,
    private readonly servers: McpServers,
  ) {}

  of(run: ClaimedRun, { mcpServers, offer, workspace }: TaskInput, signal: AbortSignal): Pick<AgentInput, 'mcp'> {
    if (mcpServers.length === 0 || workspace === null) return {};
    const { taskId, workspaceId } = run;
    const open = this.servers.openTo(workspace);
    const { work } = this.database;
    return {
      mcp: {
        servers: mcpServers.map((name) => ({ name, config: open.find((one) => one.name === name) ?? null })),
        offer,
        keep: async (made) => {
          await retryWhileUnavailable(() => work.run(KEEP_OFFER({ taskId, offer: JSON.stringify(made) })), signal);
        },
        saw: async (name, { fingerprint, found }) => {
          const { revision = null, tools = null } = found ?? {};
          const isProgram = open.some((one) => one.name === name && one.kind === 'program');
          const seen = { id: newId(), workspaceId: isProgram ? workspaceId : null };
          await work
            .run(SAW({ ...seen, name, fingerprint, revision, tools }))
            .catch((error: unknown) => this.logger.warn(error));
        },
      },
    };
  }
}
