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

/** Throws 400 for a budget in money on a model without prices: it could never end a turn. */
export function checkMaxCost(models: ModelCatalog, modelId: string, maxCost: string | undefined): void {
  if (maxCost === undefined || models.prices(modelId) !== null) return;
  const message = `budget.maxCost: the model "${modelId}" has no prices to count by; leave it out, or send null.`;
  throw new ApiError('invalid_field', message, { param: 'budget.maxCost' });
}

function available(models: ModelCatalog, id: string): ModelInfo {
  const model = models.find(id);
  if (model?.status === 'available') return model;
  // A text of a megabyte, or of several lines, is not repeated.
  const which = /^[^\p{C}]{1,200}$/u.test(id) ? `The model "${id}"` : 'This model';
  throw new ApiError('model_not_available', `${which} is not available; GET /v1/models lists those that are.`, {
    param: 'model',
  });
}
