// The smallest service of our shape: Express, PostgreSQL and Bull. POST a task, a worker loops over model and tool with one
// commit for each row, the client polls. The limit of this stack and not a product: it has no key, scope, limit,
// idempotency, check, lease or fence, and runs its tool on the bare host.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Bull from 'bull';
import express from 'express';
import pg from 'pg';
import { answerOf } from './stream.mjs';

const { PORT, DATABASE_URL, REDIS_URL, MODEL_URL } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const queue = new Bull('floor', REDIS_URL);
const folder = await mkdtemp(join(tmpdir(), 'millwright-floor-'));

const tool = {
  name: 'write',
  description: 'Write a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } } },
};

const run = (name, text, values) => pool.query({ name, text, values });
const STATUS = 'UPDATE floor.tasks SET status = $2, updated_at = now() WHERE id = $1';
const ADD = 'INSERT INTO floor.messages VALUES ($1, $2, $3, $4)';
const RESULT = `WITH task AS (UPDATE floor.tasks SET updated_at = now() WHERE id = $1) ${ADD}`;

async function askModel(messages) {
  const body = JSON.stringify({ model: 'fake', messages, tools: [{ type: 'function', function: tool }], stream: true });
  const headers = { 'content-type': 'application/json' };
  return answerOf(await fetch(`${MODEL_URL}/chat/completions`, { method: 'POST', headers, body }));
}

async function drive({ id, content }) {
  const messages = [{ role: 'user', content }];
  let seq = 1;
  await run('status', STATUS, [id, 'running']);
  for (;;) {
    const answer = await askModel(messages);
    messages.push(answer);
    const calls = answer.tool_calls ?? [];
    const parts = [
      ...(answer.content ? [{ type: 'text', text: answer.content }] : []),
      ...calls.map((call) => ({ type: 'tool_call', toolCallId: call.id, ...call.function })),
    ];
    await run('add', ADD, [id, seq++, 'assistant', JSON.stringify(parts)]);
    if (calls.length === 0) break;
    for (const call of calls) {
      await writeFile(join(folder, id), JSON.parse(call.function.arguments).content);
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'ok' });
      const part = { type: 'tool_result', toolCallId: call.id, status: 'success', output: 'ok' };
      await run('result', RESULT, [id, seq++, 'tool', JSON.stringify([part])]);
    }
  }
  await run('status', STATUS, [id, 'completed']);
}

if (MODEL_URL !== undefined) void queue.process(16, ({ data }) => drive(data));

const app = express();
app.use(express.json());
app.get('/ok', (_req, res) => res.json({ ok: true }));
app.post('/tasks', async (req, res) => {
  const id = randomUUID();
  const { content } = req.body;
  const text = `WITH task AS (INSERT INTO floor.tasks (id, status) VALUES ($1, 'queued')) ${ADD.replace('$2, $3, $4', `0, 'user', $2`)}`;
  await run('create', text, [id, JSON.stringify([{ type: 'text', text: content }])]);
  await queue.add({ id, content }, { removeOnComplete: true, attempts: 3 });
  res.status(201).json({ id, status: 'queued' });
});
app.get('/tasks/:id/messages', async (req, res) => {
  const text = 'SELECT * FROM floor.messages WHERE task_id = $1 ORDER BY seq LIMIT 50';
  res.json({ messages: (await run('messages', text, [req.params.id])).rows, nextCursor: null });
});
app.listen(PORT, '127.0.0.1');
process.once('SIGTERM', () => void rm(folder, { recursive: true, force: true }).finally(() => process.exit()));
