// A model server without think time: OpenAI's streaming chat completions. The user's text says `turns=10 tool=write`: so
// many answers are one call of that tool, the next is text. Conversations are told apart by what they carry.
import { createServer } from 'node:http';

const server = createServer(async (req, res) => {
  if (req.method === 'GET') return res.end('{"ok":true}');
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(eventsOf(JSON.parse(Buffer.concat(chunks).toString())));
});
server.listen(process.env.PORT, '127.0.0.1');
process.once('SIGTERM', () => process.exit());

function eventsOf({ messages }) {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const { content } = messages[last];
  const text = typeof content === 'string' ? content : content.map((part) => part.text).join('\n');
  const [, turns = 0, tool = 'write'] = /turns=(\d+) tool=(\w+)/.exec(text) ?? [];
  const done = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
  const deltas = done < turns ? callOf(tool, done) : [{ content: 'Done: ' }, { content: 'all is written.' }];
  const finish = done < turns ? 'tool_calls' : 'stop';
  return [
    ...[{ role: 'assistant', content: '' }, ...deltas].map((delta) =>
      event([{ index: 0, delta, finish_reason: null }]),
    ),
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

function event(choices, usage) {
  const base = { id: 'chat', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'fake' };
  return `data: ${JSON.stringify({ ...base, choices, ...(usage && { usage }) })}\n\n`;
}
