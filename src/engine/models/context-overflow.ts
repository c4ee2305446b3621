// In which words providers say that a conversation is longer than the model can read.

/** Those with a number first: it is what the model can read, in tokens. */
const WORDS: RegExp[] = [
  /prompt is too long: [\d,]+ tokens > (?<window>\d+)/i, // Anthropic, also through Bedrock
  /exceed context limit: \d+ \+ \d+ > (?<window>\d+)/i, // Anthropic, with what the answer may have
  /maximum context length (?:is|of) (?<window>\d+)/i, // OpenAI, OpenRouter, vLLM, DeepSeek, Together, Llama on Bedrock
  /exceeds the maximum number of tokens allowed \((?<window>\d+)\)/i, // Google
  /maximum model length of (?<window>\d+)/i, // vLLM
  /context length is only (?<window>\d+)/i, // vLLM
  /longer than the model's context length \((?<window>\d+)/i, // SGLang
  /exceeds the available context size \((?<window>\d+)/i, // llama.cpp
  /exceeded model token limit: (?<window>\d+)/i, // Moonshot
  /exceeds the limit of (?<window>\d+)/i, // GitHub Copilot
  /maximum prompt length is (?<window>\d+)/i, // xAI
  /with (?<window>\d+) maximum context length/i, // Mistral
  /current length is \d+ while limit is (?<window>\d+)/i, // Cerebras
  /request too large for model.*tokens per minute.*limit (?<window>\d+)/i, // Groq: more than may be sent in a minute
  /prompt is too long/i,
  /exceeds the context window/i, // OpenAI, responses
  /exceeds the maximum number of (?:input )?tokens/i,
  /input is too long for requested model/i, // Bedrock
  /exceeds the available context size/i, // llama.cpp, before it had numbers
  /prompt too long; exceeded (?:max )?context length/i, // Ollama
  /input length exceeds the(?: maximum)? context length/i, // Ollama
  /reduce the length of the (?:messages|prompt|input)/i, // Groq
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /context_length_exceeded|model_max_prompt_tokens_exceeded|exceed_context_size_error|request_too_large/,
];

/** Characters of an error that are looked at. */
const LOOKED_AT = 4_000;

/** What a model can read, in tokens, by the words of an error; null when they do not say. Undefined: it is another error. */
export function overflowOf(status: number | undefined, text: string): number | null | undefined {
  if (status === 401 || status === 403 || status === 429) return undefined;
  const words = text.slice(0, LOOKED_AT);
  for (const pattern of WORDS) {
    const found = pattern.exec(words);
    if (found !== null) return Number(found.groups?.['window'] ?? NaN) || null;
  }
  return status === 413 ? null : undefined;
}
