import { anthropicMessages } from './anthropic-messages.js';
import { openAiChat } from './openai-chat.js';
import { openAiResponses } from './openai-responses.js';
import type { Wire, WireName } from './wire.js';

export const WIRES: Readonly<Record<WireName, Wire>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
};
