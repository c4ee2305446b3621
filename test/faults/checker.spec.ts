import { violations } from './checker.js';
import type { CallRow, History, MessageRow } from './history.js';
import { type Kind, type Order, orderOf } from './orders.js';

/** The history that an order must have, to be broken. */
function whole(order: Order): History & { rows: MessageRow[] } {
  const lines = order.calls.slice(0, -1).map((_, n) => `${n + 1}\n`);
  const calls = order.calls.map(({ name, input }, n) => {
    const output = ['engine', 'forgetful'].includes(order.kind) ? lines.join('') : { stdout: lines.join('') };
    return { toolCallId: `call-${n}`, name, input, state: 'success', output, error: null };
  });
  const row = (n: number, own: CallRow[]): MessageRow => ({
    id: `message-${n}`,
    taskId: 'task',
    // The user's message has place 1 in the list and 2 in the reading.
    seq: n === 1 ? 1 : n + 1,
    readSeq: n + 1,
    role: n === 1 ? 'user' : 'assistant',
    status: 'complete',
    calls: own,
  });
  const rows = [row(1, []), ...calls.map((call, n) => row(n + 2, [call])), row(calls.length + 2, [])];
  const messages = rows.map(({ id, role, status, calls: own }) => {
    const parts = own.flatMap(({ toolCallId, name, input }) => [
      { type: 'tool_call', toolCallId, name, input },
      { type: 'tool_result', toolCallId, name, status: 'success' },
    ]);
    return { id, role, status, turn: 1, readAt: null, createdBy: null, parts: [{ type: 'text', text: 'x' }, ...parts] };
  });
  return {
    tasks: [{ id: 'task', title: order.key, status: 'completed', runs: ['finished'] }],
    messages: new Map([['task', rows]]),
    shown: new Map([['task', { status: 'completed', messages }]]),
    told: new Map([['task', { numbers: [1, 2, 3], messages: [...messages] }]]),
    rows,
  };
}

const order = orderOf('k-1', 'quick');

/** What is said of a history that was broken in one way. */
function saidOf(kind: Kind, spoil: (history: ReturnType<typeof whole>) => unknown): string[] {
  const own = kind === 'quick' ? order : orderOf('k-1', kind);
  const history = whole(own);
  spoil(history);
  return violations([own], history).map(({ fault, what }) => `${fault}: ${what}`);
}

/** The n-th call on record, from 0. */
const call = ({ rows }: { rows: MessageRow[] }, n: number): CallRow => rows[n + 1]?.calls[0] as CallRow;
const parts = ({ shown }: History, n: number) => shown.get('task')?.messages[n]?.parts ?? [];

describe('The checker of histories', () => {
  it.each(['quick', 'slow', 'shell', 'engine', 'forgetful'] as const)(
    'has nothing to say of a whole history of a %s order',
    (kind) => {
      expect(saidOf(kind, () => undefined)).toEqual([]);
    },
  );

  it('sees events that are missing, and such as amount to other messages', () => {
    expect(saidOf('quick', ({ told }) => told.get('task')?.numbers.splice(1, 1))).toEqual([
      'missing: event 2: the next one is 3',
    ]);
    const other = 'wrong: the events amount to other messages than the API shows';
    expect(saidOf('quick', ({ told }) => told.get('task')?.messages.pop())).toEqual([other]);
    expect(saidOf('quick', ({ told }) => told.clear())).toEqual([other]);
  });

  it('sees orders that are lost, doubled or foreign', () => {
    expect(saidOf('quick', (h) => h.tasks.pop())).toContain('lost: accepted, and not on record');
    expect(saidOf('quick', (h) => h.tasks.push({ ...h.tasks[0], id: 'other' } as never))).toContain(
      'duplicate: two tasks of one key',
    );
    expect(violations([], whole(order))).toEqual([{ fault: 'wrong', key: 'k-1', what: 'a task that nobody ordered' }]);
  });

  it.each(['queued', 'running', 'failed', 'cancelled'])('sees a task that is %s instead of completed', (status) => {
    expect(saidOf('quick', ({ tasks }) => Object.assign(tasks[0] ?? {}, { status }))).toContain(
      `lost: it is ${status}`,
    );
  });

  it('sees runs that are not over, and two at once', () => {
    expect(saidOf('quick', ({ tasks }) => tasks[0]?.runs.splice(0, 1, 'queued'))).toEqual([
      'lost: its run is not over',
    ]);
    expect(saidOf('quick', ({ tasks }) => tasks[0]?.runs.splice(0, 1, 'running', 'queued'))).toContain(
      'duplicate: 2 runs that are not over',
    );
  });

  it('sees a gap, a message too many, one in a wrong place and one without its end', () => {
    expect(saidOf('quick', ({ rows }) => rows.splice(2, 1))).toEqual(
      expect.arrayContaining([
        'missing: 1 of 7 places',
        'missing: on record: step 2',
        expect.stringMatching(/5 messages/),
      ]),
    );
    expect(saidOf('quick', ({ rows }) => rows.push({ ...rows.at(-1), seq: 8, readSeq: 8 } as MessageRow))).toEqual(
      expect.arrayContaining(['duplicate: 7 messages instead of 6', 'duplicate: 2 answers']),
    );
    expect(saidOf('quick', ({ rows }) => Object.assign(rows[3] ?? {}, { readSeq: 2 }))).toContain(
      'out of order: place 5 is read as 2',
    );
    expect(saidOf('quick', ({ rows }) => Object.assign(rows[3] ?? {}, { status: 'in_progress' }))).toEqual([
      'missing: message 5 is in_progress',
    ]);
    expect(saidOf('quick', ({ rows }) => rows.pop())).toEqual(
      expect.arrayContaining(['missing: 0 answers', 'out of order: it does not end with the answer']),
    );
  });

  it('sees a step twice, one that is missing, two in a wrong order and one that nobody ordered', () => {
    const input = (n: number) => order.calls[n]?.input;
    expect(saidOf('quick', (h) => Object.assign(call(h, 1), { input: input(0) }))).toEqual([
      'duplicate: on record: step 1 twice',
      'missing: on record: step 2',
    ]);
    const swap = (h: ReturnType<typeof whole>) => {
      Object.assign(call(h, 0), { input: input(1) });
      Object.assign(call(h, 1), { input: input(0) });
    };
    expect(saidOf('quick', swap)).toEqual(['out of order: on record: step 1 after a later one']);
    expect(saidOf('quick', (h) => Object.assign(call(h, 1), { name: 'bash' }))).toContain(
      'wrong: on record: call 2 was not ordered',
    );
  });

  it('sees a call without a result, and accepts an interruption of commands alone', () => {
    const interrupted = { state: 'error', error: 'it may have run partly' };
    expect(saidOf('quick', (h) => Object.assign(call(h, 1), { state: 'running' }))).toEqual([
      'missing: call 2 has no result',
    ]);
    expect(saidOf('quick', (h) => Object.assign(call(h, 1), interrupted))).toHaveLength(1);
    expect(saidOf('shell', (h) => Object.assign(call(h, 1), interrupted))).toEqual([]);
    expect(saidOf('shell', (h) => Object.assign(call(h, 1), { state: 'error', error: 'other' }))).toHaveLength(1);
  });

  it('sees a command that ran twice, and one that did not run and is on record as done', () => {
    const log = (stdout: string) => (h: ReturnType<typeof whole>) => Object.assign(call(h, 3), { output: { stdout } });
    expect(saidOf('shell', log('1\n2\n2\n3\n'))).toEqual(['duplicate: command 2 ran 2 times']);
    expect(saidOf('shell', log('1\n3\n'))).toEqual(['missing: command 2 did not run']);
    const printed = (output: string) => (h: ReturnType<typeof whole>) => Object.assign(call(h, 3), { output });
    expect(saidOf('engine', printed('1\n2\n2\n3\n'))).toEqual(['duplicate: command 2 ran 2 times']);
    expect(saidOf('engine', printed('1\n3\n'))).toEqual(['missing: command 2 did not run']);
  });

  it('sees what the API shows otherwise than it is on record', () => {
    expect(saidOf('quick', ({ shown }) => shown.clear())).toEqual(['lost: the API does not show it']);
    expect(saidOf('quick', ({ shown }) => Object.assign(shown.get('task') ?? {}, { status: 'running' }))).toHaveLength(
      1,
    );
    expect(saidOf('quick', ({ shown }) => shown.get('task')?.messages.reverse())).toContain(
      'wrong: the API shows other messages',
    );
    expect(saidOf('quick', (h) => parts(h, 2).pop())).toEqual(['out of order: in the API: a call is followed by text']);
    expect(saidOf('quick', (h) => parts(h, 2).push(parts(h, 2)[2] as never))).toEqual([
      'duplicate: 5 results of 4 calls',
    ]);
    expect(saidOf('quick', (h) => parts(h, 2).push(...parts(h, 2).slice(1)))).toEqual(
      expect.arrayContaining(['duplicate: in the API: step 2 twice', 'duplicate: two calls of one id']),
    );
  });
});
