// The calls that a program makes of its model: as of the loop, but for who has written the request (reference §30).
import type { IncomingHttpHeaders } from 'node:http';
import type { EngineConfig } from '../../../platform/config/engines.js';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import type { EngineSettings } from '../../agent/engine-settings.js';
import type { LiveAnswer } from '../../agent/live-answer.js';
import { type CalledAnswer, ModelCaller } from '../../agent/model-caller.js';
import type { Waits } from '../../agent/waits.js';
import { OWN } from '../../models/conversation.js';
import type { ModelCatalog } from '../../models/model-catalog.js';
import type { SdkModel } from '../../models/model-config.js';
import { type Effort, ModelError, type ModelPart, type ModelRequest } from '../../models/model-provider.js';
import { callUpstream, failureOf } from '../wires/upstream.js';
import type { Wire, WireAnswer, WireRequest } from '../wires/wire.js';

/** Bytes of an answer, with what is no word in it. */
const MOST_BYTES = 64 * 1024 ** 2;

/** An answer as the loop knows it, and as the wire does. */
export interface Asked {
  answer: CalledAnswer;
  wire: WireAnswer;
}

interface About {
  modelId: string;
  effort: Effort | null;
  signal: AbortSignal;
  headers: IncomingHttpHeaders;
  /** As of {@link ModelCaller.call}. */
  uniqueId: (id: string) => string;
  live: LiveAnswer | null;
  waits: Waits | undefined;
}

export interface ModelCallsDeps {
  catalog: ModelCatalog;
  models: readonly SdkModel[];
  settings: EngineSettings;
  metrics: Metrics;
  wire: Wire;
  engine: EngineConfig;
  /** Names of tools that are taken out. */
  hide: readonly string[];
}

export class ModelCalls {
  constructor(private readonly deps: ModelCallsDeps) {}

  /** Rejects as {@link ModelCaller.call} does. */
  async ask(request: WireRequest, about: About): Promise<Asked> {
    let last: WireAnswer | null = null;
    const stream = (asked: ModelRequest) => this.stream(request, about.headers, asked, (came) => (last = came));
    // The models of the service, with another way to call them: tries, waits, silence, health and fallback are the loop's.
    const models = Object.assign(Object.create(this.deps.catalog) as ModelCatalog, { stream });
    const caller = new ModelCaller(models, this.deps.settings, this.deps.metrics);
    const { modelId, effort, signal, uniqueId, live, waits } = about;
    const given = { modelId, effort, system: '', messages: [], tools: [], signal };
    const answer = await caller.call(given, uniqueId, live, waits);
    if (last === null) throw new ModelError('The model gave no answer.', true);
    return { answer, wire: last };
  }

  private async *stream(
    request: WireRequest,
    headers: IncomingHttpHeaders,
    { modelId, effort, signal }: ModelRequest,
    came: (last: WireAnswer) => void,
  ): AsyncGenerator<ModelPart> {
    const { wire, hide, engine, models } = this.deps;
    const model = models.find(({ info }) => info.id === modelId);
    if (model === undefined) throw new ModelError(`The model '${modelId}' is not offered here.`, false);
    const body = wire.forward(request, { model: model.model, effort, hide, providerTools: engine.providerTools });
    const upstream = await callUpstream(model, wire, { body, headers }, signal);
    const reader = wire.answer(upstream.contentType);
    const said = { text: 0, reasoning: 0 };
    let size = 0;
    for await (const chunk of upstream.body) {
      size += chunk.length;
      if (size > MOST_BYTES) throw new ModelError('The answer of the model does not end.', false);
      // Also what has no words in it is a sign of life.
      yield { type: 'text', text: '' };
      for (const { kind, delta } of reader.add(chunk)) {
        said[kind] += delta.length;
        yield { type: kind, text: delta };
      }
    }
    const answer = reader.end();
    const failure = failureOf(answer);
    if (failure !== null) throw failure;
    // What came with the last bytes, or with an answer that is no stream.
    for (const kind of ['reasoning', 'text'] as const) {
      const rest = answer[kind].slice(said[kind]);
      if (rest !== '') yield { type: kind, text: rest, end: true };
    }
    for (const { toolCallId, name, input, ...form } of answer.calls) {
      // By which it can be said again, from the record.
      const kept = Object.keys(form).length === 0 ? {} : { providerMetadata: { [OWN]: { form } } };
      yield { type: 'tool_call', toolCallId, name, input, ...kept };
    }
    came(answer);
    yield { type: 'finish', reason: answer.finish, usage: answer.usage };
  }
}
