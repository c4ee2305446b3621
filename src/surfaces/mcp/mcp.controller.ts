import type { RequestListener } from 'node:http';
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { rateLimited } from '../../access/rate-limit/rate-limit-headers.js';
import { writeRateLimit } from '../../access/rate-limit/rate-limit.interceptor.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { invalid, type JsonObject, parseJsonObject } from '../../platform/http/json-body.js';
import { refuseAnyQuery, requireJson } from '../../platform/http/body.guard.js';
import { Endpoint, type RateLimitPolicy } from '../../platform/http/endpoint.js';
import { readBody } from '../../platform/http/read-body.js';
import { announcesBody } from '../../platform/http/request.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { Call, Refused } from './call.js';
import { ClientLeft } from './inner-request.js';
import { idOf, type Message, messageOf, RpcError } from './message.js';
import { Methods, SERVER } from './methods.js';
import { failed } from './results.js';

const anyObject = z.record(z.string(), z.unknown());
const content = { 'application/json': anyObject };

/** The Model Context Protocol (reference §29). */
@Controller('mcp')
export class McpController {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly methods: Methods,
    private readonly limiter: RateLimiter,
    private readonly turns: RequestSlots,
  ) {}

  // A stream whose query is ignored, because what is wrong with either is charged too; what it asks for takes the turns.
  @Post()
  @HttpCode(200)
  @Endpoint({
    summary: 'Speak the Model Context Protocol',
    description:
      'Streamable HTTP without sessions, revisions 2026-07-28 and 2025-11-25 to 2025-03-26: one message of JSON-RPC, one answer in JSON.',
    policy: 'metadata_read',
    ownCharge: true,
    scopes: 'any',
    origin: 'own',
    body: 'stream',
    accepts: 'application/json',
    query: 'ignored',
    action: 'mcp.call',
    answer: {
      200: { description: 'The result, or what is wrong with the request.', content },
      202: { description: 'A notification: no answer, and no effect.' },
      400: { description: 'No request of this protocol.', content },
      404: { description: 'No method of this protocol.', content },
    },
  })
  async take(@Auth() auth: AuthContext, @Req() req: Request, @Res() res: Response): Promise<void> {
    const body = await this.body(auth, req, res);
    const message = messageOf(req, body);
    try {
      const policy = message instanceof RpcError ? 'metadata_read' : this.methods.policyOf(message);
      const refusal = await this.charge(auth, req, res, policy);
      // The order of the checks: what is wrong with the form is said, also where nothing is left for it.
      if (message instanceof RpcError) throw message;
      if (message.id === undefined && refusal !== undefined) throw refusal;
      if (message.id === undefined) return void res.status(202).end();
      const app = this.host.httpAdapter.getInstance<RequestListener>();
      const call = new Call(req, res, auth, message, app);
      reply(res, message.id, message.modern, await this.result(call, refusal));
    } catch (error) {
      answerTo(error, res, idOf(body), !(message instanceof RpcError) && !message.modern);
    }
  }

  private async result(call: Call, refusal: ApiError | undefined): Promise<object> {
    const tool = this.methods.toolOf(call.message);
    notesOf(call.req).tool = tool;
    if (refusal === undefined) return this.methods.run(call);
    if (tool === undefined) throw refusal;
    return failed(refusal.body(call.requestId));
  }

  /** The body, as strict JSON. What is wrong with it is charged, and said also where nothing is left. Throws 400, 413, 415. */
  private async body(auth: AuthContext, req: Request, res: Response): Promise<JsonObject> {
    try {
      refuseAnyQuery(req);
      if (!announcesBody(req)) throw invalid('A JSON object is expected as the body.');
      requireJson(req.headers['content-type'], req.headers['content-encoding']);
      const bytes = await readBody(req);
      const parse = () => parseJsonObject(bytes, AROUND);
      return bytes.length < LONG ? parse() : await this.turns.parse(req, parse);
    } catch (error) {
      await this.charge(auth, req, res, 'metadata_read');
      throw error;
    }
  }

  /** Takes a request from the buckets of a policy and says what is left; the refusal, when nothing was. */
  private async charge(
    { credential, workspace }: AuthContext,
    req: Request,
    res: Response,
    policy: RateLimitPolicy,
  ): Promise<ApiError | undefined> {
    const charge = await this.limiter.charge(credential.id, workspace.plan, policy);
    notesOf(req).charge = charge;
    writeRateLimit(req, res);
    res.removeHeader('Retry-After');
    return charge.allowed ? undefined : rateLimited('requests with this credential', charge);
  }
}

/** Bytes of a body that is parsed in a turn. */
const LONG = 16 * 1024;
/** What a message may have more than a body of the API: the arguments of a call lie two levels deep, and what is too much of them is an error of their route. */
const AROUND = { levels: 10, values: 100 };

function reply(res: Response, id: Message['id'], modern: boolean, result: object): void {
  const complete = { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': SERVER } };
  res.json({ jsonrpc: '2.0', id, result: modern ? complete : result });
}

/** Answers what is an error of the protocol, and what an operation refused for good. Throws all else, for the filter. */
function answerTo(error: unknown, res: Response, id: string | number | null, earlier: boolean): void {
  // There is nobody to answer.
  if (error instanceof ClientLeft) return void res.end();
  if (error instanceof Refused) {
    const { status, headers, body } = error.answer;
    for (const name of ['retry-after', 'www-authenticate']) {
      const value = headers[name];
      if (value !== undefined) res.setHeader(name, value);
    }
    return void res.status(status).type('application/json').end(body);
  }
  if (!(error instanceof RpcError)) throw error;
  const { code, message, data } = error;
  const status = earlier && error.status === 404 ? 200 : error.status;
  res.status(status).json({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}
