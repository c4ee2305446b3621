import type { Delta, MessagePart, TaskEvent } from '@millwright/sdk';
import { type Entry, Transcript } from './transcript.js';

const words = (offset: number, delta: string, messageId = 'm'): Delta => ({ type: 'message.delta', messageId, index: 0, part: 'text', offset, delta }); // prettier-ignore
const output = (toolCallId: string, offset: number, delta: string): Delta => ({ type: 'tool.progress', messageId: 'm', toolCallId, stream: 'stdout', offset, delta }); // prettier-ignore
const call = (toolCallId: string): MessagePart => ({ type: 'tool_call', toolCallId, name: 'bash', input: {} });
const message = (type: string, parts: MessagePart[], id = 'm', role = 'assistant') => ({ type, seq: 1, data: { message: { id, role, parts } } }) as unknown as TaskEvent; // prettier-ignore
const result = (toolCallId: string, stdout: string): MessagePart => ({ type: 'tool_result', toolCallId, name: 'bash', status: 'success', output: { stdout, stderr: '', exitCode: 0 } }); // prettier-ignore
const completed = (toolCallId: string, stdout: string) => ({ type: 'tool.completed', seq: 2, data: { messageId: 'm', toolCallId, parts: [result(toolCallId, stdout)] } }) as unknown as TaskEvent; // prettier-ignore

const said: MessagePart = { type: 'text', text: 'Said.' };

/** Each entry in one word and what it says. */
const read = (...events: (TaskEvent | Delta)[]): string[] => {
  const transcript = new Transcript();
  return events.flatMap((event) => [...transcript.read(event)]).map(inWords);
};
const inWords = (entry: Entry): string => {
  if (entry.type === 'call') return `call ${entry.call.toolCallId}`;
  if (entry.type === 'result') return `result ${entry.call.toolCallId} ${entry.output}`.trim();
  if (entry.type === 'output') return `output ${entry.line}`;
  if (entry.type === 'discarded') return entry.type;
  const marks = entry.type === 'asked' ? '' : `${entry.begins ? '^' : ''}${entry.ends ? '$' : ''}`;
  return `${entry.type}${marks} ${entry.text}`;
};

describe('A transcript (reference §19)', () => {
  it.each<[string, (TaskEvent | Delta)[], string[]]>([
    [
      'puts a text together from its pieces, and its message adds the rest',
      [words(0, 'One '), words(4, 'two '), message('message.completed', [{ type: 'text', text: 'One two three' }])],
      ['text^ One ', 'text two ', 'text$ three'],
    ],
    [
      'after a reconnect repeats no piece, and leaves no gap',
      [words(0, 'One '), words(0, 'One two '), words(20, 'x'), message('message.created', [{ type: 'text', text: 'One two three' }])],
      ['text^ One ', 'text two ', 'text$ three'],
    ],
    [
      'begins again when an answer was given up',
      [words(0, 'One'), { type: 'message.discarded', messageId: 'm' }, words(0, 'Two'), { type: 'message.discarded', messageId: 'n' }],
      ['text^ One', 'discarded', 'text^ Two'],
    ],
    [
      'shows the message when it is not what its pieces were',
      [words(0, 'One'), message('message.completed', [{ type: 'text', text: 'Two' }])],
      ['text^ One', 'text^$ Two'],
    ],
    [
      'names the call before what belongs to it, whichever comes first',
      [
        message('message.created', [call('a'), call('b'), said]),
        output('b', 0, 'of b\n'),
        completed('b', 'of b\nmore'),
        completed('a', 'of a'),
        message('message.completed', [call('a'), result('a', 'of a'), call('b'), result('b', 'of b\nmore'), said]),
      ],
      ['text^$ Said.', 'call a', 'call b', 'output of b', 'result b more', 'call a', 'result a of a'],
    ],
    [
      'shows whole lines as they stand at last, sixteen of them, and the rest with the result',
      [
        message('message.created', [call('a')]),
        output('a', 0, '10 %\r100 %\r\nha'),
        output('a', 14, `lf\n${'x\n'.repeat(20)}`),
        completed('a', `10 %\r100 %\r\nhalf\n${'x\n'.repeat(20)}`),
      ],
      ['call a', 'output 100 %', 'output half', ...Array.from({ length: 14 }, () => 'output x'), `result a ${'x\n'.repeat(6)}`.trim()],
    ],
    [
      'keeps what the model says next behind the results that it is about',
      [message('message.created', [call('a')]), words(0, 'It ', 'n'), completed('a', ''), words(3, 'works.', 'n')],
      ['call a', 'result a', 'text^ It ', 'text works.'],
    ],
    [
      'shows what a user has sent once',
      [message('message.created', [{ type: 'text', text: 'Do it.' }], 'u', 'user'), message('message.completed', [{ type: 'text', text: 'Do it.' }], 'u', 'user')],
      ['asked Do it.'],
    ],
  ])('%s', (_title, events, entries) => {
    expect(read(...events)).toEqual(entries);
  }); // prettier-ignore
});
