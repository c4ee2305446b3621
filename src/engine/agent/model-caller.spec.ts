import { Logger } from '@nestjs/common';
import { AgentBench, registryOf } from '../../../test/harness/agent.js';
import { type Answer, byMarkers, steps } from '../../../test/harness/model-server.js';
import { readEnv } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type ModelInfo, type ModelPart, ModelProvider } from '../models/model-provider.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { EngineSettings } from './engine-settings.js';
import { ModelCaller } from './model-caller.js';
import { slowIt } from '../../../test/harness/slow.js';

let bench: AgentBench;
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

/** First these answers, one a try, then a good one. */
async function failing(...answers: Answer[]): Promise<void> {
  bench = await AgentBench.start((_, attempt) => answers[attempt - 1] ?? { text: 'Good.' });
}
const run = () => bench.run(bench.input('Go'));
const tries = () => bench.server?.requests.length;
const good = { type: 'completed', text: 'Good.' };
const text = 'A text that is long enough for several chunks of the stream.';

describe('a model call is tried again', () => {
  it.each<[string, Answer]>([
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['an overloaded provider', { status: 529 }],
    ['an answer that breaks off', { text, breakOff: true }],
    ['an answer without an end', { text, finish: null }],
    ['broken JSON', { text, brokenJson: true }],
    ['an answer that is no stream', { status: 200, body: 'hello' }],
  ])('after %s', async (_, answer) => {
    await failing(answer);
    const { outcome, events } = await run();
    expect(outcome).toEqual(good);
    expect(tries()).toBe(2);
    // Nothing of the failed try is on record.
    expect(events.length).toBe(1);
  });

  it('after the time that the provider asks for', async () => {
    await failing({ status: 429, headers: { 'retry-after': '1' } });
    expect((await run()).outcome).toEqual(good);
    const [first, second] = bench.server?.requests ?? [];
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(990);
    expect(waited).toBeLessThan(20_000);
  });

  it('after silence', async () => {
    await failing({ text, stall: true }, { hang: true });
    bench.settings.idleMs = 1_000;
    expect((await run()).outcome).toEqual(good);
    expect(tries()).toBe(3);
  });

  slowIt('but not while it is only slow', async () => {
    // More than that in all.
    await failing({ text, chunkMs: 400, firstByteMs: 500 }, { status: 500 });
    bench.settings.idleMs = 2_000;
    expect((await run()).outcome).toEqual({ type: 'completed', text });
    expect(tries()).toBe(1);
  });
});

describe('a model call fails the turn', () => {
  it.each<[string, Answer, string, RegExp]>([
    ['429', { status: 429 }, 'model_overloaded', /answered 429 \(rate limited\)/],
    ['529', { status: 529 }, 'model_overloaded', /answered 529 \(overloaded\)/],
    ['500', { status: 500 }, 'model_error', /answered 500 \(an error of its own\)/],
  ])('when %s do not end', async (_, answer, code, message) => {
    bench = await AgentBench.start(() => answer);
    const { outcome } = await run();
    expect(outcome).toMatchObject({ type: 'failed', code, retryable: true });
    expect(outcome).toMatchObject({ message: expect.stringMatching(message) as unknown });
    expect(tries()).toBe(bench.settings.attempts);
  });

  it.each<[string, Answer, string, RegExp]>([
    ['an empty answer', {}, 'model_error', /empty answer/],
    ['reasoning up to the output limit', { reasoning: 'Hm.', finish: 'length' }, 'output_limit', /before it said/],
  ])('when %s comes again after a nudge', async (_, answer, code, message) => {
    bench = await AgentBench.start(() => answer);
    const { outcome } = await run();
    expect(outcome).toMatchObject({ code, retryable: true, message: expect.stringMatching(message) as unknown });
    expect(tries()).toBe(2);
  });

  it.each<[string, Answer, string, RegExp]>([
    [
      'refused credentials',
      { status: 401, body: '{"error":{"message":"bad key sk-123"}}' },
      'model_credentials',
      /credentials were refused/,
    ],
    ['a refused request', { status: 400 }, 'model_error', /answered 400/],
    ['a forbidden request', { status: 403 }, 'model_error', /answered 403 \(the request was forbidden/],
    ['an unknown model', { status: 404 }, 'model_gone', /not known/],
    [
      'a redirect',
      { status: 307, headers: { location: 'http://127.0.0.1:9/?key=sk-123' } },
      'model_error',
      /answered 307 \(it redirects elsewhere/,
    ],
    [
      'a quota',
      { status: 429, body: '{"error":{"message":"no","code":"insufficient_quota"}}' },
      'model_quota',
      /quota/,
    ],
  ])('at once for %s, and leaks nothing', async (_, answer, code, message) => {
    bench = await AgentBench.start(() => answer);
    const { outcome } = await run();
    expect(outcome).toMatchObject({ type: 'failed', code, retryable: false });
    expect(outcome).toMatchObject({ message: expect.stringMatching(message) as unknown });
    expect(tries()).toBe(1);
    expect(JSON.stringify(outcome)).not.toMatch(/127\.0\.0\.1|sk-123|Scripted/);
  });

  it('at once when the provider asks for a wait that is too long', async () => {
    bench = await AgentBench.start(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    expect((await run()).outcome).toMatchObject({ type: 'failed', code: 'model_overloaded', retryable: true });
    expect(tries()).toBe(1);
  });

  it('when nobody listens', async () => {
    bench = await AgentBench.start(() => ({}));
    await bench.server?.stop();
    expect((await run()).outcome).toMatchObject({
      code: 'model_overloaded',
      message: expect.stringMatching(/reached/) as unknown,
    });
  });

  it('when the provider withholds the answer', async () => {
    bench = await AgentBench.start(() => ({ finish: 'content_filter' }));
    expect((await run()).outcome).toMatchObject({ type: 'failed', code: 'content_filter', retryable: false });
  });

  it('when the answer does not end', async () => {
    bench = await AgentBench.start(() => ({ text: 'x'.repeat(5_000) }));
    bench.settings.answerLength = 4_000;
    expect((await run()).outcome).toMatchObject({
      code: 'model_error',
      message: expect.stringMatching(/end/) as unknown,
    });
  });

  it('and can be stopped while it waits', async () => {
    bench = await AgentBench.start(() => ({ status: 429, headers: { 'retry-after': '50' } }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }), () => []);
    const reason = new Error('cancelled');
    setTimeout(() => controller.abort(reason), 100);
    await expect(running).rejects.toBe(reason);
  });
});

describe('nonsense of a model', () => {
  const answered = async (name: string, args: unknown): Promise<string> => {
    bench = await AgentBench.start(steps({ calls: [{ name, arguments: args }] }, { text: 'Good.' }));
    const { outcome, events } = await run();
    expect(outcome).toEqual(good);
    expect(bench.sandbox.commands).toEqual([]);
    const event = events[1];
    if (event?.type !== 'tool' || event.result.status !== 'error') throw new Error('An error was expected.');
    return event.result.error;
  };

  it('is told which tools there are', async () => {
    expect(await answered('shell 2.0', {})).toMatch(
      /no tool 'shell 2.0'.*ask, bash, bash_input, bash_output, bash_stop, edit/,
    );
    // The made-up name goes back in a form that no provider refuses.
    const message = bench.server?.requests[1]?.body.messages.find((one) => one.tool_calls !== undefined);
    expect(message?.tool_calls?.[0]?.function.name).toBe('shell_2_0');
  });

  it('is told what is wrong with its arguments', async () => {
    const error = await answered('bash', { say: 'ls', timeoutSeconds: 'long' });
    expect(error).toMatch(/command: it is missing/);
    expect(error).toMatch(/timeoutSeconds: /);
    expect(error).toMatch(/say: there is no such field/);
    expect(error).toContain('The fields of bash: command (required), ');
  });

  it('is told when they are no JSON', async () => {
    expect(await answered('bash', '{"command": "ls')).toMatch(/not a JSON object/);
    expect(await answered('bash', `{"command": "ls", "a": [${'1,'.repeat(10_000)}1]}`)).toMatch(
      /10,000 keys and values/,
    );
    expect(await answered('bash', `{"command": ${'['.repeat(33)}${']'.repeat(33)}}`)).toMatch(/not a JSON object/);
    expect(bench.server?.requests[1]?.body.messages[2]?.tool_calls?.[0]?.function.arguments).toContain('unreadable');
  });
});

it('reads a script from the text of a message', async () => {
  bench = await AgentBench.start(byMarkers);
  const script = [
    { status: 503, times: 2 },
    { calls: [{ name: 'bash', arguments: { command: 'echo 1' } }] },
    { brokenJson: true },
    { text: 'Good.' },
  ];
  const { outcome, events } = await bench.run(bench.input(`Please SCRIPT ${JSON.stringify(script)}`));
  expect(outcome).toEqual(good);
  expect(events.length).toBe(3);
  expect(tries()).toBe(5);
});

describe('a provider of a stranger', () => {
  @Plugin(ModelProvider, 'strange')
  class StrangeProvider extends ModelProvider {
    tries = 0;
    constructor(private readonly say: () => AsyncIterable<ModelPart>) {
      super();
    }
    list(): ModelInfo[] {
      const shape = { description: '', efforts: [], defaultEffort: null, input: [], contextWindow: null };
      return [{ ...shape, id: 'strange', name: 'Strange', status: 'available' }];
    }
    stream(): AsyncIterable<ModelPart> {
      this.tries++;
      return this.say();
    }
  }
  const settings = Object.assign(new EngineSettings(), { backoffMs: 1, idleMs: 50, attempts: 2 });
  const callWith = async (provider: StrangeProvider, signal = new AbortController().signal) => {
    // So that the afterEach of this file has something to close.
    bench = await AgentBench.start();
    const catalog = new ModelCatalog(readEnv({}), registryOf([provider]));
    const request = { modelId: 'strange', effort: null, system: '', messages: [], tools: [], signal };
    return new ModelCaller(catalog, settings, new Metrics()).call(request, (id) => id);
  };

  it('is given up when it is silent and deaf', async () => {
    const provider = new StrangeProvider(async function* () {
      yield { type: 'text', text: 'So' };
      await new Promise(() => undefined);
    });
    await expect(callWith(provider)).rejects.toMatchObject({ message: 'The model was silent for 0.05 seconds.' });
    expect(provider.tries).toBe(2);
  });

  it('is not believed when its answer has no end', async () => {
    const provider = new StrangeProvider(async function* () {
      yield await Promise.resolve({ type: 'text' as const, text: 'So' });
    });
    await expect(callWith(provider)).rejects.toMatchObject({ message: expect.stringMatching(/broke off/) as unknown });
  });

  it('does not end the process with a defect, nor tell it to the client', async () => {
    const provider = new StrangeProvider(() => {
      throw new TypeError('secret of the house');
    });
    await expect(callWith(provider)).rejects.toMatchObject({
      message: 'The model could not be called.',
      retryable: false,
    });
    expect(provider.tries).toBe(1);
  });
});
