// What a task is told when the folder that it goes on in is older than its history (reference §23).
import type { ConversationMessage, JsonValue, StoredPart } from '../../engine/models/conversation.js';
import { isJsonObject } from '../../engine/models/conversation.js';
import { newId } from '../../platform/database/ids.js';
import type { LostCall } from './run-snapshots.sql.js';

/** The name of the `data` part. */
export const WORKDIR_PART = 'workdir';
/** Of the calls, the last ones are named. */
const NAMED = 50;
/** Of a command. */
const CHARACTERS = 300;

/** The parts of the message that tells of it: one for people, and one that only the model reads. */
export function partsOfLoss(lost: [LostCall, ...LostCall[]]): StoredPart[] {
  const { restoredToStep } = lost[0];
  const lostSteps = new Set(lost.map(({ messageId }) => messageId)).size;
  const named = lost.slice(-NAMED);
  const left = lost.length - named.length;
  const text = [
    'The machine on which this task had its folders is lost. They are on another machine now, as they were in an earlier snapshot' +
      `${restoredToStep === 0 ? ', from before this turn, or empty when there was none' : ''}.`,
    'These calls ran after it and have left no trace in /workdir, /tmp and the home folder, whatever their results say:',
    ...(left > 0 ? [`- ${left} calls before the following`] : []),
    ...named.map(({ name, input }) => `- ${name}: ${inShort(input)}`),
    'What they did outside of these folders is done. Look at the folders before you go on, and do again what is missing.',
  ].join('\n');
  const data = { restoredToStep, lostSteps };
  return [
    { type: 'data', name: WORKDIR_PART, id: newId(), data },
    { type: 'surroundings', text },
  ];
}

/** The message as the model reads it: it is the service's word, and stands between the answers as one of the user does. */
export function readLoss(id: string, parts: StoredPart[]): ConversationMessage | null {
  const [first, second] = parts;
  if (first?.type !== 'data' || first.name !== WORKDIR_PART || second?.type !== 'surroundings') return null;
  return { id, role: 'user', parts: [{ type: 'text', text: second.text }], invocations: [], byService: true };
}

function inShort(input: JsonValue): string {
  const command = isJsonObject(input) ? (input['command'] ?? input['path']) : input;
  const text = typeof command === 'string' ? command : JSON.stringify(input);
  return JSON.stringify(text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}…` : text);
}
