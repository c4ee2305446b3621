// The summary of the beginning of a conversation that has become too long: what the service said first, people's own words, a model's
// notes, the plan.
import { readFileSync } from 'node:fs';
import { userText } from '../../models/ai-sdk/ai-sdk-prompt.js';
import { argumentsText, type ConversationMessage, textOf, type ToolInvocation } from '../../models/conversation.js';
import { AFTER_TRUNCATION, afterUnfit, truncatedInARow, outputFault } from '../../models/nudges.js';
import { resultText } from '../../models/result-text.js';
import { skillsRead } from '../../skills/read-skills.js';
import { truncateMiddle } from '../tools/tool-text.js';

/** The system prompt of the call that writes the notes. */
export const SUMMARY_PROMPT = readFileSync(new URL('./summary-prompt.txt', import.meta.url), 'utf8').trim();

const INTRODUCTION =
  'The conversation has become too long to be read again as a whole. This stands for its beginning; what follows it is kept as it was.';
const NOTES_TRUNCATED =
  '[Cut here. The whole notes are in AGENTS.md, or CLAUDE.md, of /project and of /workdir/repo: read them again.]';
const SKILLS_TRUNCATED = '[There are skills too: ls /skills]';
/** Characters of one message of the model, of the arguments of a call, of a result, in the record for the notes. */
const SAID = 4_000;
const ARGUMENTS = 1_000;
const RESULT = 2_000;
/** Of a text without its middle. */
const LEAST = 200;

/** The text that stands for messages, from the first one of the task on. Limits in bytes. */
export function summaryText(
  messages: ConversationMessage[],
  notes: string,
  limits: { people: number; notes: number; plan: number; surroundings: number },
): string {
  const sections = [INTRODUCTION];
  const first = messages.flatMap(({ parts }) => parts).find(({ type }) => type === 'surroundings');
  if (first?.type === 'surroundings') {
    sections.push(`# What the service said before the first message\n\n${beginning(first.text, limits.surroundings)}`);
  }
  sections.push(`# The messages of the user\n\n${peopleText(messages, limits.people)}`);
  if (notes !== '') sections.push(`# Notes on the work so far\n\n${fitting(notes, limits.notes)}`);
  const plan = planText(messages);
  if (plan !== null) sections.push(`# The plan\n\n${fitting(plan, limits.plan)}`);
  if (truncatedInARow(messages) > 0) sections.push(truncatedAnswer(messages, limits.notes));
  const skills = skillsRead(messages);
  if (skills.length > 0) {
    const files = skills.map((name) => `- /skills/${name}/SKILL.md`).join('\n');
    sections.push(`# Skills that you have read\n\nRead one again before you go on with what it is for.\n${files}`);
  }
  const last = messages.at(-1);
  const fault = last === undefined ? null : outputFault(last);
  if (fault !== null) sections.push(afterUnfit(fault));
  return sections.join('\n\n');
}

/** As much as fits of what the service said before the first message, with its tags closed. */
function beginning(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  // Without half a character, and without a part of a line that may be a tag.
  const kept = bytes.subarray(0, limit).toString().replace(/\uFFFD$/, '').replace(/\n(?:<[^\n]*)?$/, ''); // prettier-ignore
  const isOpen = kept.lastIndexOf('\n<owner_notes ') > kept.lastIndexOf('\n</owner_notes>');
  const skills = text.includes('\n<owner_notes file="/skills">') ? `\n${SKILLS_TRUNCATED}` : '';
  return `${kept}${isOpen ? '\n</owner_notes>' : ''}\n${NOTES_TRUNCATED}${skills}\n</surroundings>`;
}

/** The end of the answer, with which the model is to go on. */
function truncatedAnswer(messages: ConversationMessage[], limit: number): string {
  const { parts = [] } = messages.at(-1) ?? {};
  const bytes = Buffer.from(textOf(parts));
  const end = bytes.subarray(Math.max(0, bytes.length - limit)).toString().replace(/^\uFFFD+/, ''); // prettier-ignore
  return `# The end of your last answer\n\n${end}\n\n${AFTER_TRUNCATION}`;
}

/** Word for word: the first, which is the task, and as many of the last as fit. */
function peopleText(messages: ConversationMessage[], limit: number): string {
  const [first = '', ...others] = messages.flatMap((one) => (one.role === 'user' ? [saidIn(one)] : []));
  const said = [fitting(first, others.length === 0 ? limit : limit / 2)];
  let room = limit - Buffer.byteLength(said.join(''));
  const last: string[] = [];
  for (const text of others.toReversed()) {
    if (last.length > 0 && Buffer.byteLength(text) > room) break;
    last.unshift(fitting(text, Math.max(room, 0)));
    room -= Buffer.byteLength(text);
  }
  const left = others.length - last.length;
  if (left > 0) said.push(`[${left} messages left out]`);
  return [...said, ...last].join('\n\n---\n\n');
}

/** A person's own words. */
export function saidIn({ parts }: ConversationMessage): string {
  return parts.filter(({ type }) => type !== 'surroundings').map(userText).filter((text) => text !== '').join('\n'); // prettier-ignore
}

/** The plan as the last call of `todo` has left it. */
function planText(messages: ConversationMessage[]): string | null {
  const calls = messages.flatMap(({ invocations }) => invocations);
  const last = calls.findLast(({ name, result }) => name === 'todo' && result?.status === 'success');
  const items = (last?.input as { items?: { status: string; text: string }[] } | undefined)?.items;
  return items === undefined || items.length === 0
    ? null
    : items.map(({ status, text }) => `- [${status}] ${text}`).join('\n');
}

/**
 * The messages that are summarised, as one text: the model is called without tools, and a conversation with calls would need them.
 * @param messages as the model was sent them; an earlier summary comes first.
 * @param limit bytes; what is older is left out.
 */
export function recordText(messages: ConversationMessage[], limit: number): string {
  const entries = messages.map((message, index) => {
    // The first one may be an earlier summary.
    const most = limit * (index === 0 ? 0.65 : 0.3);
    if (message.role === 'user') return `[user]\n${fitting(saidIn(message), most)}`;
    // A truncated result may go on with the rest of a line, which has no mark.
    return `[engineer]\n${fitting(stepText(message), most).replace(/^(\[… .* left out …\]\n)(?!\| )/gm, '$1| ')}`;
  });
  const [first = '', ...others] = entries;
  let room = limit - Buffer.byteLength(first);
  const last: string[] = [];
  for (const entry of others.toReversed()) {
    room -= Buffer.byteLength(entry) + 2;
    if (room < 0) break;
    last.unshift(entry);
  }
  const left = others.length - last.length;
  return [first, ...(left > 0 ? [`[${left} messages left out]`] : []), ...last].join('\n\n');
}

function stepText({ parts, invocations }: ConversationMessage): string {
  const said = parts.flatMap((part) => (part.type === 'text' ? [truncateMiddle(part.text, SAID).text] : []));
  return [...said, ...invocations.map(callText)].join('\n');
}

function callText({ name, input, result }: ToolInvocation): string {
  const given = marked(truncateMiddle(argumentsText(input), ARGUMENTS).text);
  const text = marked(truncateMiddle(resultText(result), RESULT).text);
  return `[call of ${JSON.stringify(name)}]\n${given}\n[result${result?.status === 'error' ? ', an error' : ''}]\n${text}`;
}

/** So that nothing in it looks like a message: all kinds of ends of lines. */
function marked(text: string): string {
  return text.replace(/^/gm, '| ');
}

/** The text, without its middle when it has more bytes. */
function fitting(text: string, bytes: number): string {
  const length = Buffer.byteLength(text);
  if (length <= bytes) return text;
  return truncateMiddle(text, Math.max(LEAST, Math.floor((text.length * bytes) / length))).text.toWellFormed();
}
