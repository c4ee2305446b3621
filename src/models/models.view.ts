import type { ModelInfo } from './model-provider.js';

/** A model as clients see it (reference §15); provider, route and tier never leave. */
export function modelView(model: ModelInfo, defaultId: string) {
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    default: model.id === defaultId,
    efforts: [...model.efforts],
    defaultEffort: model.defaultEffort,
    input: [...model.input],
    contextWindow: model.contextWindow,
    status: model.status,
  };
}
