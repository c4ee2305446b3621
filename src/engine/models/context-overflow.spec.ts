import { overflowOf } from './context-overflow.js';

// The words of the providers, as their servers write them.
describe('a conversation that is longer than the model can read is recognised in the words of', () => {
  it.each<[string, number | undefined, string, number | null]>([
    ['Anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum', 200_000],
    ['Anthropic', 400, 'input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again', 200_000], // prettier-ignore
    ['Anthropic', 413, '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}', null],
    ['OpenAI, chat', 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 150001 tokens. Please reduce the length of the messages.", 128_000], // prettier-ignore
    ['OpenAI, responses', 400, 'Your input exceeds the context window of this model. Please adjust your input and try again.', null], // prettier-ignore
    ['OpenAI, by its code', undefined, '{"code":"context_length_exceeded","message":"Too much."}', null],
    [
      'Google',
      400,
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
      1_048_575,
    ],
    ['Google', 400, 'The input token count exceeds the maximum number of tokens allowed.', null],
    ['Bedrock', 400, 'Input is too long for requested model.', null],
    ['Bedrock', 400, 'The model returned the following errors: prompt is too long: 204801 tokens > 199999 maximum', 199_999], // prettier-ignore
    ['Bedrock, Llama', 400, "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt", 8_192], // prettier-ignore
    ['OpenRouter', 400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40960 tokens (30720 of text input, 10240 in the output). Please reduce the length of either one.", 32_768], // prettier-ignore
    ['vLLM', 400, "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.", 32_768], // prettier-ignore
    ['vLLM', 400, 'The decoder prompt (length 40000) is longer than the maximum model length of 32768.', 32_768],
    ['vLLM', 400, "You passed 32769 input tokens and requested 0 output tokens. However, the model's context length is only 32768 tokens.", 32_768], // prettier-ignore
    ['SGLang', 400, "The input (40000 tokens) is longer than the model's context length (32768 tokens).", 32_768],
    ['Ollama', 400, 'prompt too long; exceeded max context length by 512 tokens', null],
    ['Ollama', 500, 'the input length exceeds the context length', null],
    ['llama.cpp', 400, 'request (40000 tokens) exceeds the available context size (8192 tokens), try increasing it', 8_192], // prettier-ignore
    ['llama.cpp', 500, 'the request exceeds the available context size. try increasing the context size or enable context shift', null], // prettier-ignore
    ['Groq', 400, 'Please reduce the length of the messages or completion.', null],
    ['Groq', 413, 'Request too large for model `llama` in organization `x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000', 6_000], // prettier-ignore
    ['Moonshot', 400, 'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)', 131_072],
    ['GitHub Copilot', 400, 'prompt token count of 140000 exceeds the limit of 128000', 128_000],
    ['GitHub Copilot, by its code', 400, '{"code":"model_max_prompt_tokens_exceeded"}', null],
    ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ['Mistral', 400, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
    ['Cerebras', 400, 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192', 8_192], // prettier-ignore
    ['LM Studio', 400, 'The number of tokens to keep from the initial prompt is greater than the context length', null],
    ['MiniMax', 400, 'invalid params, context window exceeds limit', null],
    ['DeepSeek', 400, "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).", 65_536], // prettier-ignore
    ['a gateway', 413, '<html>Payload Too Large</html>', null],
    ['a stream that had begun', undefined, 'Your input exceeds the context window of this model.', null],
  ])('%s (%s: %s)', (_provider, status, text, window) => {
    expect(overflowOf(status, text)).toBe(window);
  });

  it.each([
    ['a limit of tokens in a minute', 429, 'Rate limit reached on tokens per minute (TPM): Limit 30000, Used 29000.'],
    ['a limit of requests, of Bedrock', 400, 'Too many tokens, please wait before trying again.'],
    ['an answer that may not be so long', 400, 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens'], // prettier-ignore
    ['a field that is too long', 400, 'messages.0.content: String should have at most 256 characters'],
    ['a key that is wrong', 401, 'Incorrect API key provided: the prompt is too long for it.'],
    ['an error of the server', 500, 'Internal server error'],
    ['a model that is not there', 404, 'The model does not exist.'],
  ])('but not in %s (%s: %s)', (_what, status, text) => {
    expect(overflowOf(status, text)).toBeUndefined();
  });
});
