// A model server without think time: OpenAI's streaming chat completions. The user's text says `turns=10 tool=write`: so
// many answers are one call of that tool, the next is text. With `every=20` the text goes on without an end, some words each
// 20 ms. Conversations are told apart by what they carry.
import { createServer } from 'node:http';

const server = createServer(async (req, res) => {
  if (req.method === 'GET') return res.end('{"ok":true}');
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const { messages } = JSON.parse(Buffer.concat(chunks).toString());
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const said = textOf(messages[last]);
  const [, everyMs] = /every=(\d+)/.exec(said) ?? [];
  if (everyMs === undefined) return res.end(eventsOf(said, messages.slice(last + 1)));
  let written = 0;
  const writing = setInterval(() => res.write(deltaOf({ content: WORDS[written++ % WORDS.length] })), Number(everyMs));
  res.once('close', () => clearInterval(writing));
});
server.listen(process.env.PORT, '127.0.0.1');
process.once('SIGTERM', () => process.exit());

const WORDS = [
  'The millstone ',
  'turns, ',
  'the **rye** ',
  'becomes ',
  '`flour`, ',
  'and goes ',
  'through ',
  'the sieve.\n\n',
];

function textOf({ content }) {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('\n');
}

function eventsOf(said, answers) {
  const [, turns = 0, tool = 'write'] = /turns=(\d+) tool=(\w+)/.exec(said) ?? [];
  const done = answers.filter(({ role }) => role === 'assistant').length;
  const deltas = done < turns ? callOf(tool, done) : [{ content: 'Done: ' }, { content: 'all is written.' }];
  const finish = done < turns ? 'tool_calls' : 'stop';
  return [
    ...[{ role: 'assistant', content: '' }, ...deltas].map(deltaOf),
    event([{ index: 0, delta: {}, finish_reason: finish }]),
    event([], { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }),
    'data: [DONE]\n\n',
  ].join('');
}

/** Each call is another one: the service refuses the same call again and again. */
function callOf(tool, n) {
  const json = JSON.stringify(
    tool === 'todo'
      ? { items: [{ text: `Step ${n}`, status: 'in_progress' }] }
      : { path: `notes/${n}.txt`, content: 'A line of the file.\n' },
  );
  const part = (fields) => ({ tool_calls: [{ index: 0, ...fields }] });
  return [
    part({ id: `call_${n}`, type: 'function', function: { name: tool, arguments: '' } }),
    part({ function: { arguments: json } }),
  ];
}

function deltaOf(delta) {
  return event([{ index: 0, delta, finish_reason: null }]);
}

function event(choices, usage) {
  const base = { id: 'chat', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'fake' };
  return `data: ${JSON.stringify({ ...base, choices, ...(usage && { usage }) })}\n\n`;
}
