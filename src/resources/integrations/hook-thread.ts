import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type Asking, SideThread, ThreadTimeoutError } from '../../platform/threads/side-thread.js';
import { FilterError, faultOf } from './filter.js';
import { type Fault, type HookBody, readBody } from './hook-body.mjs';

const KIB = 1024;
/** Longer bodies are hashed and parsed in the thread; the worst of this length hold the event loop for 30 ms. Bytes. */
const LONG = 256 * KIB;
/** For one filter. Milliseconds. */
const FILTER_MS = 100;

/** A body that cannot be taken: the message says why, in a sentence. */
export class HookBodyError extends Error {
  override readonly name = 'HookBodyError';
}

interface Question {
  body: Buffer;
  /** Without one the body is read. */
  filter?: string;
}
type Answer = HookBody | { matches: boolean } | { filterFault: string } | Fault;

/**
 * One thread of the process for the bodies of deliveries: what they hold, and whether a filter wants them (reference §12, §13). `owner`:
 * the workspace that asks; workspaces take turns.
 */
@Injectable()
export class HookThread implements OnApplicationShutdown {
  private readonly thread = new SideThread<Question, Answer>(new URL('./hook.worker.mjs', import.meta.url));

  onApplicationShutdown(): void {
    this.thread.stop(new Error('The service is stopping.'));
  }

  /** Throws {@link HookBodyError} for what is no JSON object or list. Bodies of at most 256 KiB are read here, longer ones in the thread. */
  async read(body: Buffer, owner = ''): Promise<HookBody> {
    const answer = body.length <= LONG ? readBody(body) : await this.ask({ body }, { owner });
    if ('payload' in answer) return answer;
    throw unexpected(answer);
  }

  /**
   * Whether the expression, which `checkFilter` let pass, is true of the whole payload of a body, by JMESPath's own truth. Of a
   * text it sees the first 65,536 characters. Throws {@link FilterError} when it cannot be
   * evaluated, or takes longer than 100 ms, and {@link HookBodyError} as {@link read} does.
   */
  async matches(filter: string, body: Buffer, owner: string): Promise<boolean> {
    const answer = await this.ask({ filter, body }, { owner, limitMs: FILTER_MS });
    if ('matches' in answer) return answer.matches;
    throw unexpected(answer);
  }

  private async ask(question: Question, asking: Omit<Asking, 'weight'>): Promise<Answer> {
    try {
      return await this.thread.ask(question, { weight: question.body.length, ...asking });
    } catch (error) {
      if (error instanceof ThreadTimeoutError) {
        throw new FilterError(`The filter took longer than ${FILTER_MS} ms and was stopped.`);
      }
      throw error;
    }
  }
}

function unexpected(answer: Answer): Error {
  if ('fault' in answer) return new HookBodyError(answer.fault);
  if ('filterFault' in answer) return new FilterError(`The filter cannot be evaluated. ${faultOf(answer.filterFault)}`);
  return new Error('The thread answered another question.');
}
