import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { requestIdOf } from '../../platform/http/request.js';
import { type InnerAnswer, type InnerRequest, sendWithin } from './inner-request.js';
import type { Message } from './message.js';

/** What an operation answered that is no matter of the protocol: 401, 500 or 503. It goes to the client as it is. */
export class Refused extends Error {
  constructor(readonly answer: InnerAnswer) {
    super(`The operation answered ${answer.status}.`);
  }
}

/** One request of a client, and what it sends to operations. */
export class Call {
  private found: AuthContext | null;

  constructor(
    readonly req: Request,
    readonly res: Response,
    readonly auth: AuthContext,
    readonly message: Message,
    private readonly app: RequestListener,
  ) {
    this.found = auth;
  }

  get requestId(): string {
    return requestIdOf(this.res);
  }

  /**
   * The answer of an operation. Who was found to ask counts for the first one alone: what is read later is read with key, membership,
   * role and visibility as they are then. Throws {@link Refused}, and `ClientLeft` once the client has gone.
   */
  async send(request: InnerRequest): Promise<InnerAnswer> {
    const { found } = this;
    this.found = null;
    const answer = await sendWithin(this.app, this.req, request, found);
    if (answer.status === 401 || answer.status >= 500) throw new Refused(answer);
    return answer;
  }
}

/** The JSON of an answer. */
export function jsonOf({ body }: InnerAnswer): JsonObject {
  return JSON.parse(body.toString('utf8')) as JsonObject;
}
