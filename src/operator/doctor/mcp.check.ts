// The servers of `mcpServers`: each is greeted and asked for its list, programs in a sandbox of a trial (reference §28).
import { McpConnection } from '../../engine/agent/mcp/connection.js';
import { McpUnavailableError } from '../../engine/agent/mcp/failures.js';
import type { SandboxSession } from '../../engine/sandbox/sandbox.js';
import { mcpServersIn } from '../../platform/config/config-file.js';
import type { McpServerConfig } from '../../platform/config/mcp-servers.js';
import { causesOf, redactor, secretsOf } from '../../platform/logging/redaction.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { openTrial, type TrialSandbox } from './trial-sandbox.js';
import { inMs, reasonOf } from './words.js';

const ADVICE = 'docs/mcp-servers.md says what a server needs. Its tasks go on without its tools.';
const REQUIRED = 'Correct that, or take "required" from it: turns of its tasks that need it fail.';

export const mcpCheck: Check = {
  name: 'mcp',
  limitMs: 60_000,
  async run(at, signal) {
    const servers = mcpServersIn(at.env.file);
    if (servers.length === 0 || !at.env.runsWork) return [];
    const trial = new Trial(at, signal);
    try {
      return await Promise.all(servers.map((server) => examined(server, at, trial, signal)));
    } finally {
      await trial.close();
    }
  },
};

async function examined(server: McpServerConfig, at: Examination, trial: Trial, signal: AbortSignal): Promise<Finding> {
  const name = `mcp ${server.name}`;
  const words: string[] = [];
  const connection = new McpConnection(server, {
    values: at.env.mcpValues,
    sandbox: () => trial.session(),
    report: (text) => words.push(text),
    changed: () => undefined,
  });
  try {
    const began = performance.now();
    const { revision, tools, leftOut } = await connection.list(signal);
    const took = performance.now() - began;
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    const found = `Revision ${revision}, ${tools.length} tools, ${bytes} bytes of definitions, in ${inMs(took)}.`;
    return leftOut === null ? ok(name, found) : warn(name, `${found} Left out: ${leftOut}.`, ADVICE);
  } catch (error) {
    const cause = error instanceof McpUnavailableError ? causesOf(error, redactor(secretsOf(at.env))) : null;
    const detail = [reasonOf(error), ...words, ...(cause === null ? [] : [`Cause: ${cause}`])].join(' ');
    return server.required ? fail(name, detail, REQUIRED) : warn(name, detail, ADVICE);
  } finally {
    await connection.close();
  }
}

/** A sandbox for the programs, opened when the first one wants it. */
class Trial {
  private opened: Promise<TrialSandbox> | null = null;

  constructor(
    private readonly at: Examination,
    private readonly signal: AbortSignal,
  ) {}

  async session(): Promise<SandboxSession> {
    return (await (this.opened ??= this.open())).session;
  }

  async close(): Promise<void> {
    const opened = await this.opened?.catch(() => null);
    await opened?.close();
  }

  private open(): Promise<TrialSandbox> {
    const { env, dataDir } = this.at;
    return openTrial(env, dataDir?.path ?? null, { network: true, signal: this.signal });
  }
}
