import { ApiError } from '../../platform/http/api-error.js';
import type { ModelCatalog } from './model-catalog.js';
import type { Effort, ModelInfo } from './model-provider.js';

/**
 * The model and the effort of work that names them, or the defaults. Throws 400 `model_not_available`, and `invalid_field` for an effort
 * that the model does not take.
 */
export function chooseModel(
  models: ModelCatalog,
  id: string | undefined,
  effort: Effort | undefined,
): { model: ModelInfo; effort: Effort | null } {
  const model = id === undefined ? models.default() : available(models, id);
  if (effort === undefined) return { model, effort: model.defaultEffort };
  if (model.efforts.includes(effort)) return { model, effort };
  const known = model.efforts.length === 0 ? 'takes no effort' : `takes ${model.efforts.join(', ')}`;
  throw new ApiError('invalid_field', `effort: the model "${model.id}" ${known}.`, { param: 'effort' });
}

/**
 * The model and the effort of work that has both, after a change. A new model keeps the effort, when it takes it and no other is given.
 * Throws as {@link chooseModel} does; what is not changed is not looked at, for the model may be gone.
 */
export function changeModel(
  models: ModelCatalog,
  now: { model: string; effort: Effort | null },
  given: { model?: string; effort?: Effort },
): { model: string; effort: Effort | null } {
  if (given.model === undefined && given.effort === undefined) return now;
  const id = given.model ?? now.model;
  const kept = now.effort !== null && models.find(id)?.efforts.includes(now.effort) === true ? now.effort : undefined;
  const { model, effort } = chooseModel(models, id, given.effort ?? kept);
  return { model: model.id, effort };
}

/** Throws 400 for a budget in money on a model without prices, or with such a fallback: it might never end a turn. */
export function checkMaxCost(models: ModelCatalog, modelId: string, maxCost: string | undefined): void {
  if (maxCost === undefined) return;
  const unpriced = [modelId, ...fallbacksOf(models, modelId)].find((id) => models.prices(id) === null);
  if (unpriced === undefined) return;
  const which = unpriced === modelId ? '' : `, which may answer for "${modelId}",`;
  const message = `budget.maxCost: the model "${unpriced}"${which} has no prices to count by; leave it out, or send null.`;
  throw new ApiError('invalid_field', message, { param: 'budget.maxCost' });
}

/** The models that answer when those before them cannot, in their order. The configuration has no circles. */
function fallbacksOf(models: ModelCatalog, modelId: string): string[] {
  const next = models.fallback(modelId);
  return next === null ? [] : [next.id, ...fallbacksOf(models, next.id)];
}

function available(models: ModelCatalog, id: string): ModelInfo {
  const model = models.find(id);
  // One that cannot be called now is taken all the same: it may have come back when the task runs.
  if (model !== undefined) return model;
  // A text of a megabyte, or of several lines, is not repeated.
  const which = /^[^\p{C}]{1,200}$/u.test(id) ? `The model "${id}"` : 'This model';
  throw new ApiError('model_not_available', `${which} is not available; GET /v1/models lists those that are.`, {
    param: 'model',
  });
}
