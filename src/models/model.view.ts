import type { ModelInfo } from './model-provider.js';

/** A model as clients see it (reference §15): nothing of its provider, route or tier. */
export function modelView(model: ModelInfo, defaultId: string) {
  const { id, name, description, efforts, defaultEffort, input, contextWindow, status } = model;
  return { id, name, description, default: id === defaultId, efforts, defaultEffort, input, contextWindow, status };
}
