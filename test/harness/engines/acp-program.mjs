// A small agent program that speaks the Agent Client Protocol, version 1, on its standard input and output. It asks the model at MODEL_URL
// on the wire MODEL_WIRE, carries its calls out itself, and keeps its sessions in ~/.acp-program. It needs Node alone.
//
//   SILENT=1             its calls are told of, their output is not
//   PERMISSIONS=1        it asks before each `shell`
//   MCP=1                it offers the tools of the MCP servers of its session too, as `mcp__server__tool`; with MCP=plain as `server_tool`
//   STEERS=1             it takes more into a turn under way, and says so
//   SIDE_CALL=1          it asks the model for a title first, without tools; `last`: when all else is done
//   SIDE_THREAD=1        another thread of it asks the model when all else is done, with tools
//   EXTRA_TOOL={…}       it offers that tool too, which it does not run
//   ANSWERS={…}          a call of one of these ids comes to that, {text, failed}, whatever it asks for
//   FORGETS=1            an answer is kept when the first of its calls is over: one that is killed before knows of none of them
//   LOAD=1               it can load sessions and not resume them
//   ONCE=1               the fault happens once: a file in its home says that it has been
//   FAULT=hang           a prompt is never answered, and nothing is said
//   FAULT=flood          it writes updates without end
//   FAULT=exit           it ends in the middle of its first prompt, with code 3 and words on its standard error
//   FAULT=garbage        it writes lines that are no JSON, and JSON that is no message
//   FAULT=long-line      it writes a line of 17 MiB
//   FAULT=slow-start     it does not answer `initialize`
//   FAULT=no-resume      it knows no session of before
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers';
import { callTool, connect } from './acp-mcp.mjs';
import { inputOf, wordsOf } from './acp-texts.mjs';
import { ask } from './acp-wires.mjs';

const { FORGETS, LOAD, ONCE, SILENT, PERMISSIONS, MCP, SIDE_CALL, SIDE_THREAD, STEERS } = process.env;
const FOLDER = join(homedir(), '.acp-program');
const FAULT = faultOf(process.env);
const ANSWERS = JSON.parse(process.env.ANSWERS ?? '{}');
const TOOLS = [
  {
    name: 'shell',
    description: 'Carries out a command.',
    schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
  {
    name: 'look',
    description: 'Reads a file.',
    schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
];

function faultOf({ FAULT = '' }) {
  const mark = join(homedir(), '.acp-program-fault');
  if (FAULT === '' || ONCE === undefined) return FAULT;
  if (existsSync(mark)) return '';
  writeFileSync(mark, FAULT);
  return FAULT;
}

/** Id → what is known of it and its turn. */
const sessions = new Map();
/** Questions to the client, by their id. */
const questions = new Map();
let lastId = 0;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, update) => write({ method: 'session/update', params: { sessionId, update } });
const fileOf = (sessionId) => join(FOLDER, `${sessionId}.json`);

function question(method, params) {
  const id = `q${++lastId}`;
  write({ id, method, params });
  return new Promise((resolve, reject) => questions.set(id, { resolve, reject }));
}

/** Whole or not at all: it may be killed at any moment. */
function keep(session) {
  mkdirSync(FOLDER, { recursive: true });
  const { id, cwd, messages, open } = session;
  writeFileSync(`${fileOf(id)}.new`, JSON.stringify({ id, cwd, messages, open }));
  renameSync(`${fileOf(id)}.new`, fileOf(id));
}

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const METHODS = {
  initialize: () => {
    if (FAULT === 'slow-start') return new Promise(() => undefined);
    if (FAULT === 'garbage') process.stdout.write('Welcome!\n\n{"not": "a message"}\n[1,2\n7\n\u0000\n');
    return {
      protocolVersion: 1,
      agentInfo: { name: 'acp-program', version: '1.0.0' },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, embeddedContext: false },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: LOAD === undefined ? { resume: {} } : {},
      },
      authMethods: [],
      ...(STEERS === undefined ? {} : { _meta: { steering: { supported: true } } }),
    };
  },
  'session/new': async ({ cwd, mcpServers }) => {
    const session = { id: randomUUID(), cwd, messages: [], open: [], servers: await serversOf(mcpServers) };
    sessions.set(session.id, session);
    keep(session);
    return { sessionId: session.id };
  },
  'session/resume': async (params) => {
    if (LOAD !== undefined) throw new Refused(-32601, 'There is no method session/resume.');
    await known(params);
    return {};
  },
  'session/load': async (params) => {
    const { id, messages } = await known(params);
    for (const { role, text } of messages) {
      const kind = { user: 'user_message_chunk', assistant: 'agent_message_chunk' }[role];
      if (kind !== undefined && text !== '') update(id, { sessionUpdate: kind, content: { type: 'text', text } });
    }
    return {};
  },
  'session/prompt': ({ sessionId, prompt }) => turn(sessions.get(sessionId), prompt),
  '_session/steering': ({ sessionId, prompt }) => {
    if (STEERS === undefined) throw new Refused(-32601, 'There is no method _session/steering.');
    const session = sessions.get(sessionId);
    if (session?.steered === undefined || STEERS === 'never') return { outcome: 'promptRequired' };
    if (STEERS !== 'forgets') session.steered.push(`Meanwhile: ${wordsOf(prompt)}`);
    return { outcome: 'injected' };
  },
};

async function known({ sessionId, cwd, mcpServers }) {
  let kept;
  try {
    if (FAULT === 'no-resume') throw new Error('forgotten');
    kept = JSON.parse(readFileSync(fileOf(sessionId), 'utf8'));
  } catch {
    throw new Refused(-32002, `There is no session ${sessionId}.`);
  }
  const session = { ...kept, cwd, servers: await serversOf(mcpServers) };
  sessions.set(sessionId, session);
  return session;
}

function serversOf(given = []) {
  return MCP === undefined ? [] : Promise.all(given.map(connect));
}

async function turn(session, prompt) {
  if (session === undefined) throw new Refused(-32002, 'There is no such session.');
  await misbehave(session.id);
  const text = wordsOf(prompt);
  // Calls that had no end when it was killed: it does not know what became of them.
  for (const { id } of session.open) session.messages.push({ role: 'tool', id, text: 'This call was interrupted.' });
  session.open = [];
  session.messages.push({ role: 'user', text });
  keep(session);
  session.abort = new AbortController();
  session.steered = [];
  try {
    return { stopReason: await work(session) };
  } catch (error) {
    if (session.abort.signal.aborted) return { stopReason: 'cancelled' };
    throw error;
  } finally {
    delete session.steered;
    for (const { id } of session.open) session.messages.push({ role: 'tool', id, text: 'This call was cancelled.' });
    session.open = [];
    keep(session);
  }
}

async function misbehave(sessionId) {
  if (FAULT === 'hang') await new Promise(() => undefined);
  if (FAULT === 'exit') {
    process.stderr.write('acp-program: out of luck\n');
    process.exit(3);
  }
  if (FAULT === 'long-line') process.stdout.write(`"${'x'.repeat(17 * 1024 * 1024)}"\n`);
  while (FAULT === 'flood') {
    const content = { type: 'text', text: 'again '.repeat(1_000) };
    update(sessionId, { sessionUpdate: 'agent_thought_chunk', content });
    await new Promise((done) =>
      process.stdout.writableNeedDrain ? process.stdout.once('drain', done) : setImmediate(done),
    );
  }
}

async function work(session) {
  const { signal } = session.abort;
  const forTitle = { messages: [{ role: 'user', text: 'Write a title.' }], signal };
  if (SIDE_CALL === '1') await ask({ ...forTitle, tools: [] });
  const offered = [...TOOLS, ...session.servers.flatMap(({ tools }) => tools)];
  for (;;) {
    for (const text of session.steered.splice(0)) session.messages.push({ role: 'user', text });
    const answer = await ask({ messages: session.messages, tools: offered, signal, thread: session.id });
    const content = { type: 'text', text: answer.text };
    if (answer.text !== '') update(session.id, { sessionUpdate: 'agent_message_chunk', content });
    if (answer.text !== '' || answer.calls.length > 0) {
      session.messages.push({ role: 'assistant', text: answer.text, calls: answer.calls });
    }
    session.open = [...answer.calls];
    if (FORGETS === undefined || answer.calls.length === 0) keep(session);
    if (answer.isCut) return 'max_tokens';
    if (answer.calls.length === 0 && session.steered.length > 0) continue;
    if (answer.calls.length > 0) {
      for (const call of answer.calls) await carryOut(session, call);
      continue;
    }
    if (SIDE_CALL === 'last') await ask({ ...forTitle, tools: [] });
    if (SIDE_THREAD !== undefined) await ask({ ...forTitle, tools: offered, thread: randomUUID() });
    return 'end_turn';
  }
}

async function carryOut(session, call) {
  const { id: toolCallId, name } = call;
  const input = inputOf(call);
  const kind = name === 'look' ? 'read' : 'execute';
  const title = String(input.command ?? input.path ?? name);
  update(session.id, { sessionUpdate: 'tool_call', toolCallId, title, kind, status: 'pending', rawInput: input });
  const allowed = PERMISSIONS === undefined || name !== 'shell' || (await mayRun(session.id, { toolCallId, title }));
  update(session.id, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  const { text, failed } = allowed ? await outcomeOf(session, call, input) : { text: 'Not allowed.', failed: true };
  session.abort.signal.throwIfAborted();
  session.messages.push({ role: 'tool', id: toolCallId, text, isError: failed });
  session.open = session.open.filter(({ id }) => id !== toolCallId);
  keep(session);
  const told = SILENT === undefined ? { content: [{ type: 'content', content: { type: 'text', text } }] } : {};
  const status = failed ? 'failed' : 'completed';
  update(session.id, { sessionUpdate: 'tool_call_update', toolCallId, status, ...told });
}

async function mayRun(sessionId, toolCall) {
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ];
  const { outcome } = await question('session/request_permission', { sessionId, toolCall, options });
  return outcome.optionId === 'yes';
}

async function outcomeOf(session, { id, name }, input) {
  if (id in ANSWERS) return ANSWERS[id];
  const server = session.servers.find(({ tools }) => tools.some((tool) => tool.name === name));
  try {
    if (server !== undefined) return await callTool(server, name, input, session.abort.signal);
    if (name === 'look') return { text: readFileSync(join(session.cwd, String(input.path)), 'utf8'), failed: false };
    if (name === 'shell') return await run(session, String(input.command));
    return { text: `There is no tool ${name}.`, failed: true };
  } catch (error) {
    return { text: error.message, failed: true };
  }
}

/** In a group of its own, which ends with the turn. */
function run({ cwd, abort: { signal } }, command) {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const end = () => process.kill(-child.pid, 'SIGKILL');
    signal.addEventListener('abort', end);
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => resolve({ text: error.message, failed: true }));
    child.on('close', (code) => {
      signal.removeEventListener('abort', end);
      resolve({ text: Buffer.concat(output).toString(), failed: code !== 0 });
    });
  });
}

async function take(line) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) {
    const open = questions.get(id);
    questions.delete(id);
    if (error === undefined) open?.resolve(result);
    else open?.reject(new Error(error.message));
    return;
  }
  if (method === 'session/cancel') sessions.get(params.sessionId)?.abort?.abort();
  if (id === undefined) return;
  try {
    if (!(method in METHODS)) throw new Refused(-32601, `There is no method ${method}.`);
    write({ id, result: await METHODS[method](params) });
  } catch (failure) {
    write({ id, error: { code: failure.code ?? -32603, message: failure.message } });
  }
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => void take(line));
input.on('close', () => process.exit(0));
