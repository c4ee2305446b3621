// Our conversation as a prompt of the AI SDK.
import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import {
  type ConversationMessage,
  isJsonObject,
  type JsonValue,
  OWN,
  type ProviderMetadata,
  type StoredPart,
  type ToolInvocation,
} from '../conversation.js';
import { type FileContent, keptFiles, keptFileKey } from '../request-files.js';
import { resultText, sorted } from '../result-text.js';
import { reviewIn, reviewText } from '../review.js';
import { type FreeformFields, freeformText, NO_FREEFORM } from './freeform.js';
import type { Options } from './provider-options.js';

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];
type UserContent = Extract<LanguageModelV3Message, { role: 'user' }>['content'];
type ToolContent = Extract<LanguageModelV3Message, { role: 'tool' }>['content'];
type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output'];
type ResultParts = Extract<ToolOutput, { type: 'content' }>['value'];

type Files = ReadonlyMap<string, FileContent>;
interface PromptOptions {
  maker?: string | undefined;
  cache?: Options | undefined;
  files?: Files | undefined;
  inResults?: boolean;
  freeform?: FreeformFields;
  bound?: boolean;
}
/** The form in which an answer and its results are sent. */
interface PromptForm {
  maker: string | undefined;
  files: Files;
  inResults: boolean;
  freeform: FreeformFields;
  bound: boolean;
}
const NO_FILES: Files = new Map();

/**
 * The prompt for one model call. Everything that the providers refuse (empty messages, input that is no object) is mended.
 * @param maker as {@link makerOf} names the model that is called: what only another one can read is left out.
 * @param cache the mark of a point up to which a provider is to cache the prompt.
 * @param files what the request holds of the files of the messages. `inResults`: a result can hold some; else a message behind it does.
 * @param freeform the tools whose calls are plain text.
 * @param bound whether reasoning has to be sealed, and is worth nothing once something before it is left out: Claude's.
 */
export function toPrompt(
  system: string,
  messages: ConversationMessage[],
  { maker, cache, files = NO_FILES, inResults = true, freeform = NO_FREEFORM, bound = false }: PromptOptions = {},
): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [{ role: 'system', content: system }];
  for (const message of messages) {
    if (message.role === 'user') addUser(prompt, message, files);
    else addAssistant(prompt, message, { maker, files, inResults, freeform, bound });
  }
  if (cache !== undefined) mark(prompt, cache);
  return prompt;
}

/** Whether the turn under way begins with calls that no reasoning of the called model stands before. */
export function actsWithoutReasoning(prompt: LanguageModelV3Prompt): boolean {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
  const first = turn.find((message) => message.role === 'assistant');
  return first !== undefined && first.content[0]?.type !== 'reasoning' && first.content.some(({ type }) => type === 'tool-call');
} // prettier-ignore

/**
 * Marks the instructions, the end of the request before and the new end. Anthropic looks back over 20 blocks from a mark: without
 * the one in the middle a step with many calls would be written anew. Another provider ignores the marks.
 */
function mark(prompt: LanguageModelV3Prompt, cache: Options): void {
  const before = prompt.findLastIndex(({ role }) => role === 'assistant') - 1;
  for (const index of new Set([0, Math.max(0, before), prompt.length - 1])) {
    const message = prompt[index];
    if (message !== undefined) message.providerOptions = cache;
  }
}

function addUser(prompt: LanguageModelV3Prompt, message: ConversationMessage, files: Files): void {
  const content = message.parts.flatMap((part): UserContent => {
    const text = userText(part);
    const file = part.type === 'file' ? files.get(part.fileId) : undefined;
    return text === '' ? [] : [{ type: 'text', text: text + reasonOf(file) }, ...filePart(file)];
  });
  if (content.length > 0) prompt.push({ role: 'user', content });
}

/** What the model reads of a part of a person's message. */
export function userText(part: StoredPart): string {
  if (part.type === 'text' || part.type === 'surroundings') return part.text;
  if (part.type === 'file') return `[Attached file, in the workdir: ${part.path} (${part.mediaType})]`;
  const comment = reviewIn(part);
  return comment === null ? '' : reviewText(comment);
}

/** Why a file is not sent, behind the text that names it. */
function reasonOf(file: FileContent | undefined): string {
  return file !== undefined && 'why' in file ? `\n[Not shown: ${file.why}.]` : '';
}

function filePart(file: FileContent | undefined): UserContent {
  if (file === undefined || 'why' in file) return [];
  const { mediaType, name: filename, data } = file;
  return [{ type: 'file', mediaType, filename, data }];
}

function addAssistant(
  prompt: LanguageModelV3Prompt,
  message: ConversationMessage,
  { maker, files, inResults, freeform, bound }: PromptForm,
): void {
  const invocations = new Map(message.invocations.map((one) => [one.toolCallId, one]));
  const content: AssistantContent = [];
  const results: ToolContent = [];
  const resultFiles: UserContent = [];
  for (const part of message.parts) {
    const isLost = bound && (message.beforeCut === true || !('providerMetadata' in part));
    const isReasoning = part.type === 'reasoning' && !isLost && !isForeign(part.providerMetadata, maker);
    if (isReasoning || (part.type === 'text' && part.text !== '')) {
      content.push({ type: part.type, text: part.text, ...withOptions(part.providerMetadata, maker) });
    }
    const call = part.type === 'tool' ? invocations.get(part.toolCallId) : undefined;
    if (part.type !== 'tool' || call === undefined) continue;
    const toolName = safeName(call.name);
    const { toolCallId } = call;
    const field = freeform.get(toolName);
    if (field === undefined) {
      const input = isJsonObject(call.input) ? call.input : { unreadable: call.input };
      content.push({ type: 'tool-call', toolCallId, toolName, input, ...withOptions(part.providerMetadata, maker) });
    } else {
      // Without what the provider gave: the item's id, which is refused when the model wrote the call as JSON.
      content.push({ type: 'tool-call', toolCallId, toolName, input: freeformText(call.input, field) });
    }
    const given = keptFiles(call.result).map((_file, index) => files.get(keptFileKey(call.toolCallId, index)));
    results.push({
      type: 'tool-result',
      toolCallId: call.toolCallId,
      toolName,
      output: outputOf(call, given, inResults),
    });
    const parts = inResults ? [] : given.flatMap(filePart);
    if (parts.length > 0)
      resultFiles.push({ type: 'text', text: `[Shown by ${toolName}, call ${call.toolCallId}]` }, ...parts);
  }
  if (content.length > 0) prompt.push({ role: 'assistant', content });
  if (results.length > 0) prompt.push({ role: 'tool', content: results });
  if (resultFiles.length > 0) prompt.push({ role: 'user', content: resultFiles });
}

function outputOf({ result }: ToolInvocation, files: (FileContent | undefined)[], inResults: boolean): ToolOutput {
  const value = resultText(result) + files.map(reasonOf).join('');
  const parts = inResults && result?.status === 'success' ? files.flatMap(resultPart) : [];
  if (parts.length > 0) return { type: 'content', value: [{ type: 'text', text: value }, ...parts] };
  if (result === null || result.status === 'error') return { type: 'error-text', value };
  return result.status === 'denied' ? { type: 'execution-denied', reason: value } : { type: 'text', value };
}

function resultPart(file: FileContent | undefined): ResultParts {
  if (file === undefined || 'why' in file) return [];
  const { mediaType, name: filename, data } = file;
  const isPicture = mediaType.startsWith('image/');
  return [isPicture ? { type: 'image-data', mediaType, data } : { type: 'file-data', mediaType, filename, data }];
}

function withOptions(metadata: ProviderMetadata | undefined, maker: string | undefined): { providerOptions?: Options } {
  if (metadata === undefined || isForeign(metadata, maker)) return {};
  // It came from the provider as JSON, and goes back as it came, but for the order of its keys, which the database does not keep.
  const { [OWN]: _own, ...given } = metadata;
  return { providerOptions: sorted(given as JsonValue) as Options };
}

/** Whether another model gave it: a seal is refused by all but the model that made it. What has no note is taken as its own. */
function isForeign(metadata: ProviderMetadata | undefined, maker: string | undefined): boolean {
  const by = metadata?.[OWN]?.['by'];
  return by !== undefined && maker !== undefined && by !== maker;
}

/** Providers refuse a whole request because of one odd name that the model itself once made up. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}
