import type { FakeAnswer } from '../../../../test/harness/engines/fake-model.js';
import { chatStream, messagesStream, responsesStream } from '../../../../test/harness/engines/fake-streams.js';
import { failureOf } from './upstream.js';
import { type WireAnswer, type WireCall, WIRE_NAMES, type WireName, type Words } from './wire.js';
import { WIRES } from './wires.js';

const STREAMS: Record<WireName, (answer: FakeAnswer) => string[]> = {
  'openai-chat': (answer) => chatStream('m', answer, true),
  'openai-responses': (answer) => responsesStream('m', answer),
  'anthropic-messages': (answer) => messagesStream('m', answer),
};

const SAID: FakeAnswer = {
  reasoning: 'Erst schauen: was liegt da? 🔭 Dann schreiben.',
  text: 'Ich sehe nach – größer als gedacht 🙂, und es sind mehr als vierundzwanzig Zeichen.',
  calls: [
    { id: 'call_1', name: 'shell', arguments: { command: 'ls -la /workdir && echo "größe"' } },
    { id: 'call_2', name: 'look', arguments: { path: 'a.txt' } },
  ],
  usage: { input: 1_200, cached: 1_000, output: 80, reasoning: 30 },
};

function read(name: WireName, chunks: Iterable<Uint8Array>, contentType = 'text/event-stream; charset=utf-8') {
  const reader = WIRES[name].answer(contentType);
  const words: Words[] = [];
  for (const chunk of chunks) words.push(...reader.add(chunk));
  return { words, answer: reader.end() };
}

function whole(name: WireName, text: string, contentType?: string): WireAnswer {
  return read(name, [Buffer.from(text)], contentType).answer;
}

function* cut(text: string, size: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const told = (words: Words[], kind: Words['kind']) =>
  words.flatMap((one) => (one.kind === kind ? [one.delta] : [])).join('');

const READ = {
  text: SAID.text,
  reasoning: SAID.reasoning,
  calls: [
    { toolCallId: 'call_1', name: 'shell', input: '{"command":"ls -la /workdir && echo \\"größe\\""}' },
    { toolCallId: 'call_2', name: 'look', input: '{"path":"a.txt"}' },
  ],
  usage: { inputTokens: 1_200, cachedInputTokens: 1_000, outputTokens: 80, reasoningTokens: 30 },
  finish: 'tool_calls',
  failed: null,
  complete: true,
};

describe.each(WIRE_NAMES)('an answer of %s', (name) => {
  const stream = STREAMS[name](SAID).join('');

  it.each([1, 2, 3, 7, 1_000_000])('is the same when its bytes come %i at a time', (size) => {
    const { words, answer } = read(name, cut(stream, size));
    expect(answer).toMatchObject(READ);
    expect(told(words, 'text')).toBe(SAID.text);
    expect(told(words, 'reasoning')).toBe(SAID.reasoning);
  });

  it.each([
    ['lines that end in CR and LF', stream.replaceAll('\n', '\r\n')],
    ['lines that end in CR', stream.replaceAll('\n', '\r')],
    ['comments in between', `: hello\n\n${stream.replaceAll('\n\n', '\n\n: still there\n\n')}`],
    ['a byte order mark', `\uFEFF${stream}`],
    ['no blank line at its end', stream.trimEnd()],
    ['lines that are no field', `<html>\nnonsense ✗\n\n${stream.replaceAll('\n\n', '\n\nretry: x\n{"a":1}\n\n')}`],
    ['events that say nothing', stream.replaceAll('\n\n', '\n\ndata: {"type":"ping"}\n\ndata: 7\n\ndata: null\n\n')],
  ])('is read with %s', (_, text) => {
    for (const size of [1, 64 * 1024]) expect(read(name, cut(text, size)).answer).toMatchObject(READ);
  });

  it('that ends without its end is not complete, wherever it is cut', () => {
    const pieces = STREAMS[name](SAID);
    const ends = name === 'openai-chat' ? 3 : 1;
    for (let length = 0; length <= pieces.length - ends; length += 1) {
      const answer = whole(name, pieces.slice(0, length).join(''));
      expect(answer.complete).toBe(false);
      expect(failureOf(answer)).toMatchObject({ retryable: true });
    }
    const [last = ''] = pieces.slice(-ends);
    const broken = whole(name, `${pieces.slice(0, -ends).join('')}${last.slice(0, last.length / 2)}`);
    expect(broken).toMatchObject({ complete: false, failed: null });
  });

  it('of which a line is no JSON cannot be read', () => {
    const answer = whole(name, `data: {"choices": [{"delta": nonsense\n\n${stream}`);
    expect(answer).toMatchObject({ complete: false, failed: { code: 'unreadable' } });
    expect(failureOf(answer)).toMatchObject({ retryable: true });
  });

  it.each([
    '{}',
    '[]',
    '{"choices":5,"error":null}',
    '{"type":"content_block_start"}',
    '{"type":"response.output_item.done"}',
  ])('that is %s says nothing and breaks nothing', (data) => {
    expect(whole(name, `data: ${data}\n\n`)).toMatchObject({ text: '', calls: [], complete: false });
    expect(whole(name, data, 'application/json')).toMatchObject({ text: '', calls: [], complete: false });
  });

  it.each(['', 'nonsense', '<html>502</html>'])("that is '%s' in one piece is not complete", (body) => {
    expect(whole(name, body, 'application/json')).toMatchObject({ complete: false, calls: [] });
  });

  it('that says that it failed is a failure, and one for its length is told apart', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const failed = whole(name, `data: ${JSON.stringify({ type: 'error', error })}\n\n`);
    expect(failed).toMatchObject({ complete: false, failed: { code: 'overloaded_error', message: 'Overloaded' } });
    expect(failureOf(failed)).toMatchObject({ retryable: true });
    const long = { message: 'prompt is too long: 210000 tokens > 200000 maximum' };
    const tooLong = whole(name, `data: ${JSON.stringify({ type: 'error', error: long })}\n\n`);
    expect(failureOf(tooLong)).toMatchObject({ retryable: false, contextWindow: 200_000 });
  });

  it.each(['length', 'content_filter'] as const)('that ends for %s says so', (finish) => {
    const answer = whole(name, STREAMS[name]({ text: 'So far', finish }).join(''));
    expect(answer).toMatchObject({ text: 'So far', finish, complete: true });
    expect(failureOf(answer)).toBeNull();
  });

  it('of 20 MB is read', () => {
    // Responses say the same text three times.
    const text = 'größe '.repeat(name === 'openai-responses' ? 900_000 : 2_600_000);
    const line = STREAMS[name]({ text: 'HERE' }).join('').replaceAll('HERE', text);
    const { answer } = read(name, cut(line, 64 * 1024));
    expect(answer.text.length).toBe(text.length);
    expect(answer).toMatchObject({ complete: true, finish: 'stop' });
    const many = STREAMS[name]({ text: 'x'.repeat(2_000_000) });
    expect(whole(name, many.join('')).text.length).toBe(2_000_000);
  });

  it('without end is given up', () => {
    const reader = WIRES[name].answer('text/event-stream');
    const chunk = Buffer.alloc(16 * 1024 * 1024, 'x');
    expect(() => Array.from({ length: 5 }, () => reader.add(chunk))).toThrow(/answer without end/);
  });
});

describe.each(WIRE_NAMES)('an answer that is said again in %s', (name) => {
  const wire = WIRES[name];
  const given = whole(name, STREAMS[name](SAID).join(''));
  const asked = (streams: boolean) =>
    wire.read({ model: 'm', messages: [], input: [], stream: streams, stream_options: { include_usage: true } });

  it.each([true, false])('is the same (streamed: %s)', (streams) => {
    const { contentType, body } = wire.say(asked(streams), given);
    expect(whole(name, body, contentType)).toEqual({
      ...given,
      usage: { ...given.usage, reasoningTokens: expect.any(Number) },
    });
  });

  it.each([true, false])(
    'has only the calls that are let through, and what seals the reasoning (streamed: %s)',
    (streams) => {
      const [first, second] = given.calls as [WireCall, WireCall];
      const { contentType, body } = wire.say(asked(streams), { ...given, calls: [second] });
      const again = whole(name, body, contentType);
      expect(again).toMatchObject({
        text: SAID.text,
        reasoning: SAID.reasoning,
        calls: [second],
        finish: 'tool_calls',
      });
      expect(JSON.stringify(again.own)).not.toContain(first.toolCallId);
      if (name !== 'openai-chat') expect(JSON.stringify(again.own)).toContain('sealed');
    },
  );

  it.each([true, false])('has no words where none are given (streamed: %s)', (streams) => {
    const { contentType, body } = wire.say(asked(streams), { own: given.own, calls: given.calls });
    expect(whole(name, body, contentType)).toMatchObject({ text: '', reasoning: '', calls: READ.calls });
  });

  it.each([true, false])('can be one that no model has said (streamed: %s)', (streams) => {
    const { contentType, body } = wire.say(asked(streams), { text: 'From the record.', calls: READ.calls });
    const answer = whole(name, body, contentType);
    expect(answer).toMatchObject({ text: 'From the record.', calls: READ.calls, finish: 'tool_calls', complete: true });
    const end = wire.say(asked(streams), { text: 'Done.', calls: [] });
    expect(whole(name, end.body, end.contentType)).toMatchObject({ text: 'Done.', calls: [], finish: 'stop' });
  });

  it.each([
    [true, 'length'],
    [true, 'content_filter'],
    [false, 'length'],
    [false, 'content_filter'],
  ] as const)('ends as it did (streamed: %s, %s)', (streams, finish) => {
    const cut = whole(name, STREAMS[name]({ text: 'So far', finish }).join(''));
    const { contentType, body } = wire.say(asked(streams), cut);
    expect(whole(name, body, contentType)).toMatchObject({ text: 'So far', finish, complete: true });
  });

  it.each([true, false])('does not tell the real name of the model (streamed: %s)', (streams) => {
    const pieces = STREAMS[name](SAID).join('').replaceAll('"model":"m"', '"model":"secret-name"');
    expect(pieces).toContain('secret-name');
    expect(wire.say(asked(streams), whole(name, pieces)).body).not.toContain('secret-name');
  });

  it('has an id of its own each time: a program takes two answers with one id for one', () => {
    const ids = [1, 2, 3].map(() => {
      const { body } = wire.say(asked(false), { text: 'Hello', calls: [] });
      return (JSON.parse(body) as { id: string }).id;
    });
    expect(new Set(ids).size).toBe(3);
  });

  it('has an error in its own form, that it also reads', () => {
    const { status, contentType, body } = wire.error(429, 'budget_exceeded', 'The budget is used up.');
    expect(status).toBe(429);
    expect(whole(name, body, contentType).failed).toMatchObject({ message: 'The budget is used up.' });
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'budget_exceeded', type: 'rate_limit_error' } });
  });
});
