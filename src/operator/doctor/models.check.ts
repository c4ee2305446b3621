// The models: one call each, as short as can be, because it costs money.
import { AiSdkProvider } from '../../engine/models/ai-sdk/ai-sdk-provider.js';
import type { ConversationMessage } from '../../engine/models/conversation.js';
import { AI_SDK, RUNBOOK } from '../../engine/models/model-catalog.js';
import { ENV_PROVIDERS, KEY_VARIABLES } from '../../engine/models/model-config.js';
import { ModelProvider } from '../../engine/models/model-provider.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { withPlugins } from './plugins.js';
import { inMs, reasonOf } from './words.js';

/** Milliseconds until the first word of a model. */
const PATIENCE = 30_000;
const QUESTION: ConversationMessage = {
  id: 'question',
  role: 'user',
  parts: [{ type: 'text', text: 'Answer with the word ok and nothing else.' }],
  invocations: [],
};

/** A model to call; without a provider it is one of an extension that the operator command does not load. */
interface Target {
  id: string;
  provider: ModelProvider | null;
  /** The id under which the provider itself lists the model. */
  providerId: string;
}

export const modelsCheck: Check = {
  name: 'models',
  limitMs: PATIENCE + 10_000,
  async run(at, signal) {
    if (!at.callsModels) return [ok('models', 'Not called, because of --no-models.')];
    let sdk: AiSdkProvider;
    try {
      sdk = new AiSdkProvider(at.env);
    } catch (error) {
      return [fail('models', reasonOf(error), 'Correct that: the service does not boot with it.')];
    }
    return withPlugins(at, ModelProvider, async (further) => {
      const targets = targetsOf(at, new Map([[AI_SDK, sdk], ...further]));
      const called = await Promise.all(targets.map((target) => call(target, signal)));
      return [...called, ...withoutModel(at, targets)];
    });
  },
}; // prettier-ignore

/** As ModelCatalog chooses them; the runbook needs no call. */
function targetsOf({ env }: Examination, providers: ReadonlyMap<string, ModelProvider>): Target[] {
  const listed = (provider: ModelProvider) => provider.list().map(({ id }) => ({ id, provider, providerId: id }));
  if (env.file.models === undefined) return [...providers.values()].flatMap(listed);
  const sdk = new Map(listed(providers.get(AI_SDK) ?? failed()).map((one) => [one.id, one]));
  return env.file.models
    .filter(({ provider }) => provider !== RUNBOOK)
    .map(({ id, provider, model }) => {
      const foreign = providers.get(provider) ?? null;
      return sdk.get(id) ?? { id, provider: foreign, providerId: model ?? foreign?.list()[0]?.id ?? id };
    });
}

function failed(): never {
  throw new Error('The built-in provider of models is missing.');
}

async function call({ id, provider, providerId }: Target, ended: AbortSignal): Promise<Finding> {
  const name = `model ${id}`;
  if (provider === null) {
    const advice = 'Provide its ModelProvider by the operatorModule of its extension, to have it tried here.';
    return warn(name, 'It was not called: no operatorModule of an extension brings its provider.', advice);
  }
  const late = AbortSignal.timeout(PATIENCE);
  const began = performance.now();
  try {
    await firstWord(provider, providerId, AbortSignal.any([late, ended]));
    return ok(name, `It answers; its first word took ${inMs(performance.now() - began)}.`);
  } catch (error) {
    const why = late.aborted ? `It has said nothing within ${PATIENCE / 1000} s.` : reasonOf(error);
    return fail(name, why, 'Look at its key, its name and its baseUrl, and at the state of its provider. Tasks with this model fail.');
  }
} // prettier-ignore

/** Ends the call at the first part that the model says: the rest would only cost. */
async function firstWord(provider: ModelProvider, modelId: string, signal: AbortSignal): Promise<void> {
  const request = {
    modelId,
    effort: null,
    system: 'You are asked whether you answer.',
    messages: [QUESTION],
    tools: [],
    signal,
  };
  for await (const part of provider.stream(request)) {
    if (part.type !== 'finish' || part.failure === undefined) return;
    throw new Error(part.failure.message);
  }
  throw new Error('The answer broke off before its first word.');
}

/** The providers that the environment has no key of, and what that leaves. */
function withoutModel({ env }: Examination, targets: Target[]): Finding[] {
  if (env.file.models !== undefined) {
    return targets.length > 0 ? [] : [ok('models', 'None but the runbook is configured. It needs no provider.')];
  }
  const absent = ENV_PROVIDERS.filter((name) => {
    return env.variables[name === 'openai-compatible' ? 'OPENAI_COMPATIBLE_URL' : KEY_VARIABLES[name]] === undefined;
  });
  const skipped = `Left out, because the environment has no key or URL: ${absent.join(', ')}.`;
  if (targets.length > 0) return absent.length > 0 ? [ok('models', skipped)] : [];
  return [warn('models', `${skipped} Tasks are worked on by the runbook, which is no AI.`, 'Give a key of a provider, such as ANTHROPIC_API_KEY, or models in CONFIG_FILE.')];
} // prettier-ignore
