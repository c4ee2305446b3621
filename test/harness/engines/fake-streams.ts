// What a provider sends on each of the three wires, in pieces, as their documentation has it. Written without the service's own wires.
import { randomUUID } from 'node:crypto';
import type { FakeAnswer, FakeCall } from './fake-model.js';

type Json = Record<string, unknown>;

/** No two answers have the same: programs take those for parts of one. */
const newId = (kind: string) => `${kind}_${randomUUID().slice(0, 8)}`;
const event = (value: Json) => `event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`;
const data = (value: Json) => `data: ${JSON.stringify(value)}\n\n`;
const pieces = (text = '') => text.match(/[\s\S]{1,24}/g) ?? [];

export function argumentsOf({ arguments: given }: FakeCall): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function usageOf({ usage = {} }: FakeAnswer) {
  return { input: 100, output: 10, cached: 0, reasoning: 0, ...usage };
}

export function chatStream(model: string, answer: FakeAnswer, withUsage: boolean): string[] {
  const base = { id: newId('chatcmpl'), object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const chunk = (delta: Json, finish: string | null = null) => {
    return data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  };
  const { calls = [] } = answer;
  const called = calls.flatMap((call, index) => {
    const head = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    const written = pieces(argumentsOf(call)).map((piece) => ({ index, function: { arguments: piece } }));
    return [head, ...written].map((one) => chunk({ tool_calls: [one] }));
  });
  const { input, output, cached, reasoning } = usageOf(answer);
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  return [
    chunk({ role: 'assistant' }),
    ...pieces(answer.reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(answer.text).map((piece) => chunk({ content: piece })),
    ...called,
    chunk({}, answer.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(withUsage ? [data({ ...base, choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ];
}

export function responsesStream(model: string, answer: FakeAnswer): string[] {
  const items: Json[] = [];
  const events: Json[] = [];
  const add = (item: Json, begun: Json, between: Json[]) => {
    const output_index = items.push(item) - 1;
    const at = { output_index, item_id: item['id'] };
    events.push({ type: 'response.output_item.added', output_index, item: begun });
    for (const one of between) events.push({ ...at, ...one });
    events.push({ type: 'response.output_item.done', output_index, item });
  };
  if (answer.reasoning !== undefined) {
    const item = { type: 'reasoning', id: newId('rs'), encrypted_content: 'sealed' };
    const deltas = pieces(answer.reasoning).map((delta) => {
      return { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta };
    });
    const summary = [{ type: 'summary_text', text: answer.reasoning }];
    add({ ...item, summary }, { ...item, summary: [] }, deltas);
  }
  if (answer.text !== undefined) {
    const item = { type: 'message', id: newId('msg'), role: 'assistant' };
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
    const deltas = pieces(answer.text).map((delta) => ({
      type: 'response.output_text.delta',
      content_index: 0,
      delta,
    }));
    add({ ...item, status: 'completed', content }, { ...item, status: 'in_progress', content: [] }, deltas);
  }
  for (const call of answer.calls ?? []) add(...responsesCall(call));
  const { input, output, cached, reasoning } = usageOf(answer);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
  const response = { id: newId('resp'), object: 'response', created_at: 1_700_000_000, model, error: null };
  const cut =
    answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'content_filter' ? answer.finish : null;
  const status = cut === null ? 'completed' : 'incomplete';
  const end = { ...response, status, incomplete_details: cut && { reason: cut }, output: items, usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...events,
    { type: `response.${status}`, response: end },
  ].map((one, sequence_number) => event({ ...one, sequence_number }));
}

function responsesCall(call: FakeCall): [Json, Json, Json[]] {
  if (call.item !== undefined) {
    const item = { id: `ct_${call.id}`, call_id: call.id, status: 'completed', ...call.item };
    return [item, { ...item, status: 'in_progress' }, []];
  }
  const written = argumentsOf(call);
  if (call.plain === true) {
    const item = { type: 'custom_tool_call', id: `ctc_${call.id}`, call_id: call.id, name: call.name };
    const deltas = pieces(written).map((delta) => ({ type: 'response.custom_tool_call_input.delta', delta }));
    return [{ ...item, input: written, status: 'completed' }, { ...item, input: '' }, deltas];
  }
  const within = call.namespace === undefined ? {} : { namespace: call.namespace };
  const item = { type: 'function_call', id: `fc_${call.id}`, call_id: call.id, name: call.name, ...within };
  const deltas = pieces(written).map((delta) => ({ type: 'response.function_call_arguments.delta', delta }));
  return [{ ...item, arguments: written, status: 'completed' }, { ...item, arguments: '' }, deltas];
}

export function messagesStream(model: string, answer: FakeAnswer): string[] {
  const { calls = [] } = answer;
  const { input, output, cached, reasoning } = usageOf(answer);
  const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 };
  const message = { id: newId('msg'), type: 'message', role: 'assistant', model, content: [], stop_reason: null };
  const blocks: { block: Json; deltas: Json[] }[] = [];
  if (answer.reasoning !== undefined) {
    const deltas = pieces(answer.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }));
    const signature = { type: 'signature_delta', signature: 'sealed' };
    blocks.push({ block: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, signature] });
  }
  if (answer.text !== undefined) {
    const deltas = pieces(answer.text).map((text) => ({ type: 'text_delta', text }));
    blocks.push({ block: { type: 'text', text: '' }, deltas });
  }
  for (const call of calls) {
    const deltas = pieces(argumentsOf(call)).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    blocks.push({ block: { type: 'tool_use', id: call.id, name: call.name, input: {} }, deltas });
  }
  const reasons: Record<string, string> = { length: 'max_tokens', content_filter: 'refusal' };
  const stop_reason = reasons[answer.finish ?? ''] ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  const told = { output_tokens: output, output_tokens_details: { thinking_tokens: reasoning } };
  return [
    { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
    ...blocks.flatMap(({ block, deltas }, index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: told },
    { type: 'message_stop' },
  ].map(event);
}
