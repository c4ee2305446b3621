import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AgentBench, user } from '../../../test/harness/agent.js';
import { type Script, steps, userText } from '../../../test/harness/model-server.js';
import { SandboxBench } from '../../../test/harness/sandboxes.js';
import { SandboxBusyError, SandboxError, SandboxFileError } from '../sandbox/sandbox.js';
import type { AgentEvent } from './agent-engine.js';
import { LazySandbox } from './lazy-sandbox.js';

let bench: AgentBench;
async function start(script?: Script): Promise<AgentBench> {
  bench = await AgentBench.start(script);
  return bench;
}
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

const bash = (command: string, id?: string) => ({
  name: 'bash',
  arguments: { command },
  ...(id === undefined ? {} : { id }),
});
const kinds = (events: AgentEvent[]) => events.map((event) => event.type);
const results = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));

describe('the loop', () => {
  it('calls the model, carries out its tools and ends with its last text', async () => {
    await start(
      steps(
        { reasoning: 'Let me look.', text: 'I look.', calls: [bash('echo one > a.txt; cat a.txt')] },
        { text: 'It says one.', usage: { input: 50, output: 5, cached: 40, reasoning: 2 } },
      ),
    );
    const { outcome, events } = await bench.run(bench.input('What does a.txt say?'));
    expect(outcome).toEqual({ type: 'completed', text: 'It says one.' });
    expect(kinds(events)).toEqual(['step', 'tool', 'step']);
    expect(events[0]).toMatchObject({
      parts: [
        { type: 'step_start' },
        { type: 'reasoning', text: 'Let me look.' },
        { type: 'text', text: 'I look.' },
        { type: 'tool' },
      ],
      calls: [{ name: 'bash', input: { command: 'echo one > a.txt; cat a.txt' } }],
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    expect(results(events)).toEqual([
      {
        status: 'success',
        output: { exitCode: 0, stdout: 'one\n', stderr: '', truncated: false },
        forModel: { ms: expect.any(Number) as unknown },
      },
    ]);
    expect(events[2]).toMatchObject({
      calls: [],
      usage: { inputTokens: 50, outputTokens: 5, cachedInputTokens: 40, reasoningTokens: 2 },
    });
    const second = bench.server?.requests[1]?.body;
    expect(second?.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(second?.messages[3]?.content).toMatch(/^exit 0, \d+\.\d s\none$/);
    expect(second?.tools?.map((tool) => tool.function.name)).toEqual(
      'ask bash bash_input bash_output bash_stop edit glob grep publish read todo write'.split(' '),
    );
    expect(bench.server?.requests[0]?.authorization).toBe('Bearer key');
    expect(bench.sandbox).toMatchObject({ opened: 1, closed: 1 });
  });

  it('asks the model nothing while the sandbox has no place: the run goes back', async () => {
    await start(steps({ text: 'Hi.' }));
    const { sandbox, server } = bench;
    sandbox.reserve = () => Promise.reject(new SandboxBusyError('No place.'));
    await expect(bench.run(bench.input('Hi?'))).rejects.toBeInstanceOf(SandboxBusyError);
    expect(server?.requests).toHaveLength(0);
  });

  it('ends a turn as failed whose sandbox cannot be set aside, and tells the operator why', async () => {
    await start(steps({ text: 'Hi.' }));
    const { sandbox, server } = bench;
    sandbox.reserve = () => Promise.reject(new SandboxError('ENOSPC: no space left on device'));
    const told = jest.spyOn(Logger.prototype, 'error');
    const { outcome, events } = await bench.run(bench.input('Hi?'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'sandbox_unavailable', retryable: true });
    expect(told).toHaveBeenCalledWith(expect.objectContaining({ msg: expect.stringContaining('ENOSPC') as string }));
    told.mockRestore();
    expect([events, server?.requests]).toEqual([[], []]);
  });

  it('gives back what was set aside for it, whether or not it has opened a sandbox, and opens it with that', async () => {
    await start(steps({ calls: [bash('true')] }, { text: 'Ran.' }, { text: 'Hi.' }));
    const reservation = { release: jest.fn() };
    bench.sandbox.reserve = () => Promise.resolve(reservation);
    const open = jest.spyOn(bench.sandbox, 'open');
    await bench.run(bench.input('Run it.'));
    expect(open).toHaveBeenCalledWith(expect.objectContaining({ reservation }));
    expect(reservation.release).toHaveBeenCalledTimes(1);
    await bench.run(bench.input('Hi?'));
    expect(reservation.release).toHaveBeenCalledTimes(2);
  });

  it('opens no sandbox for a turn without tools', async () => {
    await start(steps({ text: 'Hello.' }));
    expect((await bench.run(bench.input('Hi'))).outcome).toEqual({ type: 'completed', text: 'Hello.' });
    expect(bench.sandbox.opened).toBe(0);
  });

  it('carries out parallel calls in order, records each before the next, and makes their ids unique', async () => {
    await start(
      steps(
        { calls: [bash('echo 1 >> log', 'same'), bash('echo 2 >> log', 'same'), bash('cat log', 'same')] },
        { calls: [bash('echo again', 'same')] },
        { text: 'Done.' },
      ),
    );
    const seen: string[] = [];
    const { events } = await bench.run(bench.input('Go'), (event) => {
      const log = join(bench.sandbox.folder, 'log');
      if (event.type === 'tool') seen.push(readFileSync(log, 'utf8').trim().replaceAll('\n', ''));
      return [];
    });
    expect(seen.slice(0, 3)).toEqual(['1', '12', '12']);
    const ids = events.flatMap((event) => (event.type === 'step' ? event.calls.map((one) => one.toolCallId) : []));
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('same');
    expect(events.map((event) => event.type === 'tool' && event.last)).toEqual([
      ...[false, false, false, true],
      ...[false, true, false],
    ]);
  });

  it('puts a question last, ends the run, and goes on with the answer', async () => {
    const ask = (question: string) => ({ name: 'ask', arguments: { question } });
    await start(steps({ calls: [ask('First?'), bash('echo ran'), ask('Second?')] }, { text: 'Thanks.' }));
    const input = bench.input('Ask me');
    const first = await bench.run(input);
    expect(kinds(first.events)).toEqual(['step', 'tool']);
    expect(first.events[1]).toMatchObject({ type: 'tool', last: false });
    const [asked, ran, other] = input.messages[1]?.invocations ?? [];
    expect(first.outcome).toMatchObject({
      type: 'question',
      toolCallId: asked?.toolCallId,
      question: { question: 'First?', options: null, multiple: false, allowText: true },
    });
    expect(ran?.result?.status).toBe('success');

    Object.assign(asked ?? {}, {
      result: { status: 'success', output: { content: 'one', options: [], files: [] } },
    });
    const second = await bench.run(input);
    expect(second.events).toEqual([]);
    expect(second.outcome).toMatchObject({ type: 'question', toolCallId: other?.toolCallId });

    Object.assign(other ?? {}, {
      result: { status: 'success', output: { content: 'two', options: [], files: [] } },
    });
    expect((await bench.run(input)).outcome).toEqual({ type: 'completed', text: 'Thanks.' });
    expect(bench.sandbox.commands).toEqual(['echo ran']);
  });

  it('reads messages that arrive on the way before the next model call, and after the last', async () => {
    await start((request) => {
      if (userText(request) === 'Stop after this.') return { text: 'Stopped.' };
      if (userText(request) === 'One more thing.') return { text: 'That too.' };
      return { calls: [bash('true')] };
    });
    const steered = ['Stop after this.', 'One more thing.'];
    const { outcome, events } = await bench.run(bench.input('Go'), (event) => {
      const text = event.type === 'tool' || steered.length === 1 ? steered.shift() : undefined;
      return text === undefined ? [] : [user(text)];
    });
    expect(kinds(events)).toEqual(['step', 'tool', 'step', 'step']);
    expect(outcome).toEqual({ type: 'completed', text: 'That too.' });
  });

  it('lays input files into the workdir once, and never over what is there', async () => {
    await start(steps({ calls: [bash('cat attachments/a.txt; echo mine > attachments/a.txt')] }, { text: 'Ok.' }));
    const files = [{ path: 'attachments/a.txt', open: () => Promise.resolve(Readable.from([Buffer.from('given')])) }];
    const { events } = await bench.run(bench.input('Read it', { files }));
    expect(results(events)[0]).toMatchObject({ output: { stdout: 'given' } });
    await bench.run(bench.input('Read it again', { files }));
    expect(readFileSync(join(bench.sandbox.folder, 'attachments/a.txt'), 'utf8')).toBe('mine\n');
  });

  it.each(['attachments', '../outside'])('goes on without an input file when its path, %s, is taken', async (path) => {
    await start(steps({ calls: [bash('true')] }, { text: 'Ok.' }));
    const { folder } = bench.sandbox;
    mkdirSync(join(folder, 'attachments'));
    const files = [{ path, open: () => Promise.resolve(Readable.from(['given'])) }];
    const { events } = await bench.run(bench.input('Go', { files }));
    expect(results(events)[0]?.status).toBe('success');
    expect(existsSync(join(folder, '../outside'))).toBe(false);
  });

  it('starts nothing without an input file that cannot be written', async () => {
    await start(steps({ calls: [bash('true')] }, { text: 'Ok.' }));
    const full = () => Promise.reject(new SandboxFileError('failed', 'a.txt: ENOSPC.'));
    const files = [{ path: 'a.txt', open: full }];
    const { events, outcome } = await bench.run(bench.input('Go', { files }));
    expect(results(events)[0]?.status).toBe('error');
    expect(outcome).toMatchObject({ type: 'failed', code: 'sandbox_unavailable' });
    expect(bench.sandbox.commands).toEqual([]);
  });

  it('goes on when the agent has put a link in the place of an input file or of its folder', async () => {
    const sandbox = new SandboxBench('namespaces');
    const files = ['attachments/a.txt', 'gone/b.txt'].map((path) => {
      return { path, open: () => Promise.resolve(Readable.from(['given'])) };
    });
    const { signal } = new AbortController();
    const { taskId, session } = await sandbox.open();
    await session.run('mkdir attachments; ln -s /tmp/a.txt attachments/a.txt; ln -s nothing gone');
    const lazy = new LazySandbox(sandbox.sandbox, { taskId, files, project: [], signal });
    try {
      const next = await lazy.get();
      expect((await next.run('readlink attachments/a.txt gone; ls')).stdout).toBe(
        '/tmp/a.txt\nnothing\nattachments\ngone\n',
      );
    } finally {
      await lazy.close();
      await sandbox.close();
    }
  });

  it('hands over a published file with its result', async () => {
    await start(
      steps({ calls: [{ name: 'publish', arguments: { path: 'r.txt', name: 'Report.txt' } }] }, { text: 'Ok.' }),
    );
    writeFileSync(join(bench.sandbox.folder, 'r.txt'), 'content');
    let content = '';
    const running = bench.run(bench.input('Publish'), async (event) => {
      const file = event.type === 'tool' ? event.files[0] : undefined;
      if (file !== undefined) content = (await buffer(file.content)).toString();
      return [];
    });
    const { events } = await running;
    expect(content).toBe('content');
    const [tool] = events.filter((event) => event.type === 'tool');
    expect(tool).toMatchObject({
      files: [{ name: 'Report.txt' }],
      result: { output: { name: 'Report.txt', size: 7 } },
    });
  });
});
