import { z } from 'zod';
import { CHECK_PHASES, checkId, type CheckPhase, type CheckRef } from '../../engine/checks/check.js';
import type { Transparency } from '../../platform/config/config-file.js';
import type { LiveUpdate } from '../../platform/events/event-subscriptions.js';
import type { Batch } from './feed.js';

const KIND = z.enum(['step_start', 'data', 'tool', 'text', 'reasoning', 'sealed']);
type Kind = z.output<typeof KIND>;

const more = { offset: z.number(), delta: z.string() };
const at = { messageId: z.string(), ...more };
const STREAM = z.enum(['stdout', 'stderr']);
const CHECK = { check: z.string(), phase: z.enum(CHECK_PHASES), round: z.number() };
// A notice comes through the database, where an older or a newer process may have sent it.
const UPDATE = z.union([
  z.object({ ...at, kinds: z.array(KIND).min(1) }),
  z.object({ ...at, toolCallId: z.string(), stream: STREAM }),
  z.object({ ...CHECK, ...more, stream: STREAM }),
  z.object({ commandId: z.string(), ...more }),
  z.object({ messageId: z.string(), discarded: z.literal(true) }),
]);

/** What a stream shows of an update. */
export type Delta =
  | { type: 'message.delta'; messageId: string; index: number; part: 'text' | 'reasoning'; offset: number; delta: string }
  | { type: 'tool.progress'; messageId: string; toolCallId: string; stream: string; offset: number; delta: string }
  | { type: 'tool.progress'; check: string; phase: CheckPhase; round: number; stream: string; offset: number; delta: string }
  | { type: 'command.output'; commandId: string; offset: number; delta: string }
  | { type: 'message.discarded'; messageId: string }; // prettier-ignore

/**
 * What is passed on of a task and not recorded, as one stream shows it: under the policy, each character once and from the first one on,
 * nothing that an event has replaced (reference §17).
 */
export class LiveUpdates {
  /** How much of each text was shown. */
  private readonly shownOf = new Map<string, number>();
  /** Messages, calls and checks whose event was sent. */
  private readonly told = new Set<string>();

  constructor(private readonly transparency: () => Transparency) {}

  replacedBy({ shown }: Batch): void {
    for (const { event } of shown) {
      // It runs again: in a turn that has ended, or behind a worker that was lost.
      if (event.type === 'check.started') this.told.delete(checkId(event.data as unknown as CheckRef));
      const id = replacedBy(event);
      if (id === undefined) continue;
      this.told.add(id);
      this.forget(id);
    }
    // An update that is late is late by a moment.
    for (const id of this.told) if (this.told.size > 200) this.told.delete(id);
  }

  shown(update: LiveUpdate): Delta[] {
    const parsed = UPDATE.safeParse(update);
    if (!parsed.success) return [];
    const { data } = parsed;
    if ('discarded' in data)
      return this.forget(data.messageId) ? [{ type: 'message.discarded', messageId: data.messageId }] : [];
    const policy = this.transparency();
    if ('check' in data) {
      const { check, phase, round, stream } = data;
      const id = checkId({ name: check, phase, round });
      if (!policy.tool_activity || this.told.has(id)) return [];
      return this.rest(`${id} ${stream}`, data, (rest) => ({
        type: 'tool.progress',
        check,
        phase,
        round,
        stream,
        ...rest,
      }));
    }
    if ('commandId' in data) return this.output(data, policy);
    const { messageId } = data;
    if ('kinds' in data) {
      const part = data.kinds.at(-1);
      if ((part !== 'text' && part !== 'reasoning') || !policy[part] || this.told.has(messageId)) return [];
      const index = data.kinds.slice(0, -1).filter((kind) => isShown(kind, policy)).length;
      return this.rest(`${messageId} ${data.kinds.length}`, data, (rest) => ({ type: 'message.delta', messageId, index, part, ...rest })); // prettier-ignore
    }
    const { toolCallId, stream } = data;
    if (!policy.tool_activity || this.told.has(toolCallId)) return [];
    return this.rest(`${toolCallId} ${stream}`, data, (rest) => ({ type: 'tool.progress', messageId, toolCallId, stream, ...rest })); // prettier-ignore
  }

  /** Of what a command has said only the end is at hand: where something is missing before it, the offset says so. */
  private output(
    { commandId, offset, delta }: { commandId: string; offset: number; delta: string },
    policy: Transparency,
  ): Delta[] {
    if (!policy.tool_activity || this.told.has(commandId)) return [];
    const key = `${commandId} output`;
    if (offset > (this.shownOf.get(key) ?? 0)) this.shownOf.set(key, offset);
    return this.rest(key, { offset, delta }, (rest) => ({ type: 'command.output', commandId, ...rest }));
  }

  /** What of an update was not shown yet; nothing when something before it is missing. */
  private rest(
    key: string,
    { offset, delta }: { offset: number; delta: string },
    frame: (rest: { offset: number; delta: string }) => Delta,
  ): Delta[] {
    const shown = this.shownOf.get(key) ?? 0;
    const rest = delta.slice(shown - offset);
    if (offset > shown || shown - offset >= delta.length) return [];
    this.shownOf.set(key, offset + delta.length);
    return [frame({ offset: shown, delta: rest })];
  }

  /** Whether anything of it was shown. */
  private forget(id: string): boolean {
    const keys = [...this.shownOf.keys()].filter((key) => key.startsWith(`${id} `));
    for (const key of keys) this.shownOf.delete(key);
    return keys.length > 0;
  }
}

/** The id of what an event replaces. */
function replacedBy({ type, data }: Batch['shown'][number]['event']): string | undefined {
  if (type === 'check.completed') return checkId(data as unknown as CheckRef);
  if (type === 'command.started') return undefined;
  if (type === 'command.ended') return (data as { commandId: string }).commandId;
  const { message, toolCallId } = data as { message?: { id: string; role: string }; toolCallId?: string };
  return message?.role === 'assistant' ? message.id : toolCallId;
}

function isShown(kind: Kind, policy: Transparency): boolean {
  switch (kind) {
    case 'step_start':
      return policy.step_boundaries;
    case 'tool':
      return policy.tool_activity;
    case 'sealed':
      return false;
    default:
      return policy[kind];
  }
}
