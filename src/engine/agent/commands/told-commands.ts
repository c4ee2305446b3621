// What the agent is told of commands that have ended, with a run or before a round of checks (reference §27.2).
import { newId } from '../../../platform/database/ids.js';
import type { ConversationMessage, StoredPart } from '../../models/conversation.js';
import type { AgentEvent } from '../agent-engine.js';
import { type EarlierCommand, statusOf } from './input-commands.js';

/** The name of the `data` part. */
export const COMMANDS_PART = 'commands';
/** Bytes of the end of what each has said. */
const SHOWN = 2 * 1024;
/** Of a command. */
const CHARACTERS = 300;

/** The message as it is recorded: a part for people, and one that only the model reads. */
export function toldCommands(earlier: readonly EarlierCommand[]): Extract<AgentEvent, { type: 'commands_told' }> {
  const commands = earlier.map((one) => ({ ...one, status: statusOf(one) }));
  const text = [
    'These commands of yours do not run any more: what still runs when your work stops or is checked is ended, and none was started again. Start what you still need.',
    ...commands.map(inWords),
  ].join('\n\n');
  const data = commands.map(({ number, status, exitCode }) => ({ commandId: `b${number}`, status, exitCode }));
  return {
    type: 'commands_told',
    messageId: newId(),
    parts: [
      { type: 'data', name: COMMANDS_PART, id: newId(), data: { commands: data } },
      { type: 'surroundings', text },
    ],
    numbers: commands.map(({ number }) => number),
  };
}

/** The message as the model reads it. */
export function readCommands(id: string, parts: StoredPart[]): ConversationMessage | null {
  const [first, second] = parts;
  if (first?.type !== 'data' || first.name !== COMMANDS_PART || second?.type !== 'surroundings') return null;
  return { id, role: 'user', parts: [{ type: 'text', text: second.text }], invocations: [], byService: true };
}

function inWords({ number, command, status, exitCode, output }: EarlierCommand): string {
  const short = command.length > CHARACTERS ? `${command.slice(0, CHARACTERS)}…` : command;
  const how = exitCode === null ? status : `${status}, exit code ${exitCode}`;
  const end = Buffer.from(output).subarray(-SHOWN).toString().trimEnd();
  return `b${number} (${how}): ${JSON.stringify(short)}${end === '' ? '' : `\n<output>\n${end}\n</output>`}`;
}
