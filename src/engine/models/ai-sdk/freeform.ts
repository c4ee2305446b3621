// Calls that a model writes as plain text in place of JSON: the custom tools of OpenAI's Responses API.
import { APICallError, type LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { isJsonObject, type JsonValue } from '../conversation.js';
import type { SdkModel } from '../model-config.js';
import type { ModelPart, ToolDefinition } from '../model-provider.js';

type SdkTool = NonNullable<LanguageModelV3CallOptions['tools']>[number];

/** Of the tools that a request offers in this form: the field that the text is, by the tool's name. */
export type FreeformFields = ReadonlyMap<string, string>;
export const NO_FREEFORM: FreeformFields = new Map();

/** GPT-5 and later. A name behind a gateway's route is none of OpenAI's own interface. */
const TAKES_GRAMMARS = /^gpt-([5-9]|[12]\d)(?!\d)(?!\S*chat)/i;

export function freeformFields({ provider, model }: SdkModel, tools: ToolDefinition[]): FreeformFields {
  if (provider !== 'openai' || !TAKES_GRAMMARS.test(model)) return NO_FREEFORM;
  const fields = tools.flatMap(({ name, freeform }) =>
    freeform === undefined ? [] : [[name, freeform.field] as const],
  );
  return new Map(fields);
}

export function sdkTools(tools: ToolDefinition[], fields: FreeformFields): SdkTool[] {
  return tools.map(({ freeform, ...tool }): SdkTool => {
    const { name, description } = tool;
    if (freeform === undefined || !fields.has(name)) return { type: 'function', ...tool };
    const format = { type: 'grammar', syntax: 'lark', definition: freeform.grammar };
    return { type: 'provider', id: 'openai.custom', name, args: { name, description, format } };
  });
}

/** A call as all others are: the package gives the text as JSON, which becomes the field. */
export function withField(part: ModelPart, fields: FreeformFields): ModelPart {
  const field = part.type === 'tool_call' ? fields.get(part.name) : undefined;
  if (part.type !== 'tool_call' || field === undefined || !part.input.startsWith('"')) return part;
  return { ...part, input: `{${JSON.stringify(field)}:${part.input}}` };
}

/** The text of a call, also of one that another model wrote as JSON. */
export function freeformText(input: JsonValue, field: string): string {
  if (typeof input === 'string') return input;
  const text = isJsonObject(input) ? input[field] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(input);
}

/** Whether a server that speaks OpenAI's interface has no such tools: another request with JSON in their place may go well. */
export function refusesFreeform(error: unknown): boolean {
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return false;
  return /\b(custom|grammar|lark)\b|\btools\W+\d/i.test(error.responseBody ?? '');
}
