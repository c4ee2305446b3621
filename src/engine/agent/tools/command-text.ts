import type { JsonValue } from '../../models/conversation.js';
import { terminalText } from '../../models/result-lines.js';
import type { AgentCommand } from '../commands/agent-command.js';
import { type EarlierCommand, statusOf } from '../commands/input-commands.js';

/** Bytes of output that one result has at most. */
const SHOWN = 24 * 1024;

const ENDED_BY = {
  timeout: 'its time was over: its timeoutSeconds, what a command may live, or what was left of the turn',
  output: 'there was no room for its output',
  disk: 'the workdir with /tmp and ~ was full, or the disk of the service',
  memory: 'its processes held more memory than allowed',
};

const LOST = 'It was cut off from outside; it may have run partly, and was not started again.';

/** How a command that goes on stands, and what it has said since it was last shown, or from an offset on. */
export function progressNote(
  command: AgentCommand,
  { from = command.shown, most = SHOWN }: { from?: number; most?: number },
): Record<string, JsonValue> {
  const { id, status, exitCode, killed, log } = command;
  const where = log.isWhole ? `; ${command.logPath} has them` : '';
  const { text, next } = command.ring.read(from, Math.min(most, SHOWN), where, status === 'running');
  command.shown = next;
  command.show();
  const note = status === 'lost' ? LOST : killed === null ? null : `It was ended: ${ENDED_BY[killed]}.`;
  const ended = status === 'running' ? {} : { exitCode };
  return { id, status, ...ended, ...(note === null ? {} : { note }), next, output: terminalText(text) };
}

/** The same of one of an earlier run, as it is on record. */
export function recordNote(command: EarlierCommand): Record<string, JsonValue> {
  const { number, exitCode, output } = command;
  return { id: `b${number}`, status: statusOf(command), exitCode, output };
}
