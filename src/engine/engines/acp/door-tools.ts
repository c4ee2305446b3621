// The MCP server `millwright` at the door: tools of the service, for calls that the model has made (reference §30).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentOutcome } from '../../agent/agent-engine.js';
import type { TaskFiles } from '../../agent/task-files.js';
import { closeHanded } from '../../agent/turn-outcomes.js';
import type { JsonValue } from '../../models/conversation.js';
import type { ToolDefinition } from '../../models/model-provider.js';
import { keptFiles } from '../../models/request-files.js';
import { resultText } from '../../models/result-text.js';
import { answerMcp, type DoorResult, type DoorTool } from '../door-mcp.js';
import type { Fields } from '../wires/fields.js';
import { carriedOut, type Carrying } from './carried-out.js';
import type { CallRecord, CameTo, Given } from './call-record.js';
import { Asked } from './own-tools.js';

const NOT_PASSED = 'Your model has not made this call, so it was not carried out.';

interface Turn {
  /** The calls that have passed the door. */
  record: CallRecord;
  finish(outcome: AgentOutcome): Promise<void>;
}

interface Offer extends Carrying {
  offered: ToolDefinition[];
  files: TaskFiles;
}

/** Bytes of the pictures of one result. */
const PICTURES = 8_000_000;

export class DoorTools {
  private offering: Offer | null = null;

  /** @param turn null: no call has passed the door. */
  constructor(private readonly turn: () => Turn | null) {}

  offer(offering: Offer): void {
    this.offering = offering;
  }

  /** Answers what is sent to `/mcp`. */
  readonly serve = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    const revision = request.headers['mcp-protocol-version'];
    const asked = { body: parsed(body), revision: typeof revision === 'string' ? revision : undefined };
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await answerMcp(
      { tools: this.listed(), call: (name, args) => this.call(name, args) },
      asked,
      gone.signal,
    );
    if (answer.body === null) return void response.writeHead(answer.status).end();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  };

  private listed(): DoorTool[] {
    const { offering } = this;
    return (offering?.offered ?? []).map((tool) => ({ ...tool, readOnly: offering?.tools.reads(tool.name) === true }));
  }

  private async call(name: string, args: Fields): Promise<DoorResult> {
    const turn = this.turn();
    const taken = turn?.record.take(new Asked(name, args as JsonValue)) ?? null;
    if (turn === null || taken === null || this.offering === null) return { text: NOT_PASSED, isError: true };
    const { id, one } = taken;
    const came = await cameTo(this.offering, one);
    await turn.record.end(id, came);
    if (came.ends != null) await turn.finish(came.ends);
    const { result } = one.call;
    const images = await picturesOf(one, this.offering);
    return { text: resultText(result), isError: result?.status !== 'success', images };
  }
}

/** Questions and tasks end the run before they come here. */
async function cameTo(offer: Offer, { message, call }: Given): Promise<CameTo> {
  const came = await carriedOut(offer, message.id, call);
  if ('result' in came) return came;
  if ('handed' in came) await closeHanded(came.handed);
  return { result: { status: 'error', error: 'This cannot be carried out here.' } };
}

/** What the result shows beside its text. */
async function picturesOf({ message, call }: Given, { files }: Offer): Promise<NonNullable<DoorResult['images']>> {
  if (keptFiles(call.result).length === 0) return [];
  const alone = { ...message, parts: [], invocations: [call] };
  const contents = await files.contents([alone], { input: ['text', 'image'], bytes: PICTURES });
  return [...contents.values()].filter((one) => 'data' in one);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
