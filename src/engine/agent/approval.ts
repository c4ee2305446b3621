// Tasks that ask before each command or file change, or before the first use of each secret (reference §4, docs/decisions/0016, 0099).
import { isJsonObject, type ToolInvocation } from '../models/conversation.js';
import type { AgentInput, AgentOutcome } from './agent-engine.js';
import type { SecretToUse } from './agent-tool.js';
import { SENT } from './mcp/mcp-tool.js';
import { MCP_CALL, PREFIX } from './mcp/names.js';
import type { CheckedCall, ReadyCall } from './tool-registry.js';
import { INTERRUPTED } from './turn-outcomes.js';
import { USE_SECRET } from './tools/use-secret.js';
import { WEB_FETCH } from './tools/web-fetch.js';
import type { TurnParts } from './turn-parts.js';

/** What a person is asked, about which tool, and what their yes is for beside the call. */
export type Approval = Pick<Extract<AgentOutcome, { type: 'approval' }>, 'question' | 'tool' | 'grants'>;

/** In front of the name of a secret among `approvedTools`. No tool has a colon in its name. */
const SECRET = 'secret:';

/** The names of the secrets that may be used in a task which asks before that. */
export function secretsIn(approvedTools: readonly string[]): string[] {
  return approvedTools.flatMap((one) => (one.startsWith(SECRET) ? [one.slice(SECRET.length)] : []));
}

/** Those that a task asks about, without the ones that cannot be read; null: it does not ask. */
export async function secretsToUse({
  approvals,
  secrets,
}: Pick<AgentInput, 'approvals' | 'secrets'>): Promise<SecretToUse[] | null> {
  if (approvals !== 'secrets') return null;
  const all = (await secrets?.())?.all ?? [];
  return all
    .filter(({ value }) => value !== null)
    .map(({ name, env, bindings, approved }) => {
      const hosts = new Set(bindings.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`)));
      return { name, env, hosts: [...hosts], approved };
    });
}

/** What a person must approve before a call that has not begun; null: nothing. */
export function approvalOf(
  { approvals, approvedTools }: Pick<AgentInput, 'approvals' | 'approvedTools'>,
  { stage }: ToolInvocation,
  ready: ReadyCall,
  { tools, secrets, web }: Pick<TurnParts, 'tools' | 'secrets' | 'web'>,
): Approval | null {
  const { tool, input } = ready;
  const asked = tool.changes && stage !== 'approved' && !approvedTools.includes(tool.name);
  if (tool.asksAlways && asked) return { question: tools.approvalQuestion(ready, []), tool: tool.name };
  switch (approvals) {
    case 'none':
      return null;
    case 'writes':
      if (!asked) return null;
      // It is refused whatever a person says.
      if ((tool.name === WEB_FETCH && web === null) || tool.needsCommands(input)) return null;
      return { question: tools.approvalQuestion(ready, []), tool: tool.name };
    case 'secrets': {
      if (tool.name !== USE_SECRET || secrets === null) return null;
      const { name } = input as { name: string };
      // What counts is on record with the task: that this call was approved is not enough.
      if (secrets.find((secret) => secret.name === name)?.approved !== false) return null;
      return { question: tools.approvalQuestion(ready, secrets), tool: tool.name, grants: SECRET + name };
    }
  }
}

/** A call as a person is asked about it: another reason for the same secret is no other question. */
export function asAsked(call: ToolInvocation): ToolInvocation {
  const { name, input } = call;
  return name === USE_SECRET && isJsonObject(input) ? { ...call, input: { name: input['name'] ?? null } } : call;
}

/**
 * Whether a call is put on record as begun before it runs. Without approvals calls run straight after their step, and
 * which one may have begun follows from their order; with them a call may have waited for days, not begun at all. A call of a server is put on record
 * always: who is asked about it may be another by then.
 */
export function recordsBeginning({ approvals }: Pick<AgentInput, 'approvals'>, { tool, input }: ReadyCall): boolean {
  return (approvals !== 'none' || isOfServer(tool)) && !tool.mayRunAgain(input);
}

/**
 * The error of an open call that an earlier run may have begun, and that is not carried out again; null: it may be. Of a call of a server that holds
 * whatever has become of its tool, or of who is asked about it: what was sent is not sent again.
 * @param mayHaveBegun by its place: the calls before it are done.
 */
export function begunBefore(
  input: Pick<AgentInput, 'approvals'>,
  { name, stage }: ToolInvocation,
  checked: CheckedCall,
  mayHaveBegun: boolean,
): string | null {
  const sent = stage === 'begun' || (mayHaveBegun && stage === null);
  if ('error' in checked) return sent && isCallOfServer(name.toLowerCase()) ? SENT : null;
  const { tool } = checked;
  if (tool.mayRunAgain(checked.input)) return null;
  if (isOfServer(tool)) return sent ? tool.interrupted : null;
  return (recordsBeginning(input, checked) ? stage === 'begun' : mayHaveBegun) ? INTERRUPTED : null;
}

/** Whether or not the tool, or its server, is there. */
const isCallOfServer = (name: string) => name.startsWith(PREFIX) || name === MCP_CALL;

/** Its calls are sent to others, who may have carried them out. */
const isOfServer = ({ interrupted }: ReadyCall['tool']) => interrupted !== null;
