import type { IncomingHttpHeaders } from 'node:http';
import { untilAborted } from '../../agent/abort.js';
import type { AgentInput, AgentOutcome } from '../../agent/agent-engine.js';
import type { EngineSession } from '../../agent/engine-session.js';
import { AGENT_PROMPT, OUTPUT_PROMPT } from '../../agent/system-prompt.js';
import { outputOf } from '../../agent/output/output-schema.js';
import { type ConversationMessage, type StoredPart, textOf } from '../../models/conversation.js';
import { afterUnfit } from '../../models/nudges.js';
import { filesIn } from '../../models/request-files.js';
import type { WireRequest } from '../wires/wire.js';
import { engineFailed, outputInvalid, stoppedFor } from './ends.js';
import type { CallUpdate } from './call-update.js';
import { AcpProgram, type PromptBlock, ProgramError, type ProgramHandlers } from './program.js';
import { firstWords, nextWords, schemaWords, sinceLastStep, textBlock, wordsOf } from './prompts.js';
import type { TurnDeps } from './turn-deps.js';

/** The kind of the part that says that a program has begun anew. */
const RESTARTED = 'engine_restarted';
/** Bytes of the pictures of one prompt. */
const PICTURES = 8_000_000;

interface Handlers {
  update(update: CallUpdate): void;
  /** Whether a model is asked, or a call is open: then the program may be silent. */
  isBusy(): boolean;
  /** Resolves when no call is open. */
  settled(): Promise<void>;
  failed(error: ProgramError): void;
}

/** The life of the program in one run: its start, its session, and what it is told. */
export class Prompts {
  private program: AcpProgram | null = null;
  private silence: NodeJS.Timeout | undefined;
  private first: PromptBlock[] = [];
  private readonly parts: StoredPart[] = [];
  /** What it is told next. */
  private readonly steering: ConversationMessage[] = [];
  private readonly notes: string[] = [];
  /** What the program has taken into its turn: its model is told when it next asks. */
  private taken: { words: string; notes: number; messages: number } | null = null;
  /** Messages of threads that the program leads beside that of its session: none is the answer of the turn. */
  readonly sides = new Set<string>();
  private reason = '';
  private output: string | undefined;
  private unfit = false;

  constructor(
    private readonly input: AgentInput,
    private readonly conversation: readonly ConversationMessage[],
    private readonly deps: TurnDeps,
    private readonly handlers: Handlers,
  ) {}

  /**
   * Starts the program and takes up its session. Resolves with the session when it is another one than is known. Rejects with {@link ProgramError},
   * and as the sandbox does. @param replays whether a step is given to it.
   */
  async begin(replays: boolean): Promise<EngineSession | null> {
    const { input, deps } = this;
    const { engine, metrics, session } = deps;
    const box = await deps.sandbox.get();
    const began = performance.now();
    const handlers: ProgramHandlers = {
      heard: () => this.heard(),
      call: (update) => this.handlers.update(update),
      lost: (error) => this.handlers.failed(error),
    };
    const program = (this.program = new AcpProgram(box, engine, handlers));
    const cwd = input.repository == null ? '/workdir' : '/workdir/repo';
    const known = session.known?.engine === engine.name ? session.known : null;
    let id: string;
    try {
      await untilAborted(program.start({ network: true, cwd }), input.signal);
      id = await untilAborted(program.begin(known?.id ?? null, cwd, true), input.signal);
    } catch (error) {
      if (!input.signal.aborted) metrics.engineStarts.inc({ engine: engine.name, outcome: 'failed' });
      throw error;
    }
    metrics.engineStarts.inc({ engine: engine.name, outcome: 'started' });
    metrics.engineStartSeconds.observe({ engine: engine.name }, (performance.now() - began) / 1000);
    this.first = await this.opening(id === known?.id, replays);
    const { version } = program;
    if (id === known?.id && version === known.version) return null;
    return (session.known = { engine: engine.name, version, id });
  }

  /** What people learn of a session that begins in the middle of a task; once. */
  restarted(): StoredPart[] {
    return this.parts.splice(0);
  }

  /** Tells the program what there is to tell, until it ends its turn. */
  async run(): Promise<void> {
    this.silence = setTimeout(() => this.silent(), this.deps.settings.engineSilentMs);
    for (let next: PromptBlock[] | null = this.first; next !== null; next = await this.following()) {
      this.reason = (await this.program?.prompt(next)) ?? '';
      await this.handlers.settled();
    }
  }

  /** How the turn ends. @param steps how many were recorded in this run. */
  outcome(steps: number): AgentOutcome {
    const { outputSchema = null } = this.input;
    const stopped = stoppedFor(this.reason);
    if (stopped !== null) return stopped;
    const last = this.lastSaid;
    if (last === undefined || (steps === 0 && this.conversation.at(-1) !== last)) {
      this.deps.report(
        new ProgramError(`The engine ${this.deps.engine.name} ended its turn without an answer of its model.`),
      );
      return engineFailed();
    }
    if (outputSchema !== null && this.output === undefined) return outputInvalid();
    return {
      type: 'completed',
      text: textOf(last.parts),
      ...(this.output === undefined ? {} : { output: this.output }),
    };
  }

  /** Whether another thread of the program asks than that of its session. Codex alone names them. */
  isSide({ 'thread-id': thread }: IncomingHttpHeaders): boolean {
    return typeof thread === 'string' && this.program !== null && thread !== this.program.sessionId;
  }

  /** Messages of people, which the program is told at its next model call. */
  steer(messages: readonly ConversationMessage[]): void {
    this.steering.push(...messages);
  }

  /** The same of the service. */
  note(words: string): void {
    this.notes.push(words);
  }

  /**
   * What becomes of a request while there is something to tell; null: it goes on. `again`: it is answered with nothing, and the program asks again with
   * what it has taken in; `ended`: its prompt is.
   */
  async before({ messages }: WireRequest, signal: AbortSignal): Promise<'again' | 'ended' | null> {
    const { taken } = this;
    this.taken = null;
    const isTold = taken !== null && messages.some(({ role, text }) => role === 'user' && text.includes(taken.words));
    if (isTold) {
      this.notes.splice(0, taken.notes);
      this.steering.splice(0, taken.messages);
    }
    if (!this.hasMore) return null;
    // What it has said to take and does not tell is its next prompt.
    if (this.program?.steers === true && (taken === null || isTold)) {
      const about = { notes: this.notes.length, messages: this.steering.length };
      const { words, blocks } = await this.toTell(this.notes, this.steering);
      if (words !== '' && (await this.program.steer(blocks(words), signal))) {
        this.taken = { words, ...about };
        return 'again';
      }
    }
    this.interrupts();
    return 'ended';
  }

  /** Whether the prompt under way is ended, because there is something to tell. */
  interrupts(): boolean {
    if (!this.hasMore) return false;
    this.program?.cancel();
    return true;
  }

  /** The program has shown that it lives. */
  heard(): void {
    this.silence?.refresh();
  }

  async close(): Promise<void> {
    clearTimeout(this.silence);
    this.silence = undefined;
    await this.program?.close();
  }

  /** What the program is told after it has ended its turn; null: nothing more. */
  private async following(): Promise<PromptBlock[] | null> {
    const [notes, messages] = [this.notes.splice(0), this.steering.splice(0)];
    this.taken = null;
    const { words, blocks } = await this.toTell(notes, messages);
    if (words !== '') return blocks(this.withSchema(words));
    const { outputSchema = null, workspaceId } = this.input;
    const last = this.lastSaid;
    if (outputSchema === null || last === undefined || this.reason !== 'end_turn') return null;
    const checked = await outputOf(outputSchema, textOf(last.parts), workspaceId);
    if ('output' in checked) this.output = checked.output;
    else if (!this.unfit) {
      this.unfit = true;
      return [textBlock(afterUnfit(checked.fault))];
    }
    return null;
  }

  private get lastSaid(): ConversationMessage | undefined {
    return this.conversation.findLast(({ id, role }) => role === 'assistant' && !this.sides.has(id));
  }

  private get hasMore(): boolean {
    return this.steering.length + this.notes.length > 0;
  }

  private async toTell(notes: readonly string[], messages: readonly ConversationMessage[]) {
    const words = [...notes, wordsOf(messages)].filter((text) => text !== '').join('\n\n');
    // What is attached lies in the workdir before the program hears of it.
    if (messages.length > 0) await this.deps.sandbox.get();
    const pictures = await this.pictures(messages);
    return { words, blocks: (text: string): PromptBlock[] => [textBlock(text), ...pictures] };
  }

  private async opening(goesOn: boolean, replays: boolean): Promise<PromptBlock[]> {
    const { conversation, deps, input } = this;
    const pictures = await this.pictures(sinceLastStep(conversation));
    if (goesOn) return [textBlock(this.withSchema(nextWords(conversation, replays))), ...pictures];
    const { instructions = '' } = input;
    const told = instructions.trim() === '' ? '' : `${AGENT_PROMPT}\n\n${instructions}`;
    const { text, isNew } = firstWords(conversation, told, deps.window);
    if (!isNew) {
      this.parts.push({ type: 'custom', kind: RESTARTED, data: { engine: deps.engine.name } });
    }
    return [textBlock(this.withSchema(text)), ...pictures];
  }

  private withSchema(words: string): string {
    const { outputSchema } = this.input;
    return outputSchema == null ? words : schemaWords(`${words}\n\n${OUTPUT_PROMPT}`, outputSchema);
  }

  /** Where the program and its model take such. */
  private async pictures(messages: readonly ConversationMessage[]): Promise<PromptBlock[]> {
    const { files, reads } = this.deps;
    if (this.program?.showsImages !== true || !reads.includes('image')) return [];
    const limits = { input: ['text' as const, 'image' as const], bytes: PICTURES, signal: this.input.signal };
    const contents = await files.contents([...messages], limits);
    return filesIn([...messages]).flatMap(({ key }): PromptBlock[] => {
      const content = contents.get(key);
      if (content === undefined || 'why' in content || !content.mediaType.startsWith('image/')) return [];
      return [{ type: 'image', mimeType: content.mediaType, data: content.data }];
    });
  }

  private silent(): void {
    if (this.silence === undefined) return;
    if (this.handlers.isBusy()) return void this.silence.refresh();
    const minutes = Math.round(this.deps.settings.engineSilentMs / 60_000);
    this.handlers.failed(
      new ProgramError(`The engine ${this.deps.engine.name} neither called nor said anything for ${minutes} minutes.`),
    );
  }
}
