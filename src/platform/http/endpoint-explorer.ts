// Reads every route of the running application with its contract, once at boot. Guards, interceptors and the filter ask it.
import { Injectable, type OnModuleInit, RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PARAMTYPES_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { z } from 'zod';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Repository } from 'typeorm';
import { ExtensionSet } from '../plugins/extension-set.js';
import { type EndpointContract, endpointOf, POLICIES, type Scope, writes } from './endpoint.js';
import { allOptional } from './fields.js';
import { pageQueryOf } from './pages.js';
import { pathPattern } from './path-pattern.js';
import { isDecodable } from './request.js';
import { unitOfWorkOf } from './tx.js';

export interface Route {
  /** `TasksController.create`, for messages. */
  name: string;
  method: string;
  /** As declared, `/v1/tasks/:taskId`. */
  path: string;
  contract: EndpointContract;
  /** `json` when the handler takes a body and the contract says nothing else. */
  body: 'json' | 'none' | 'stream' | 'raw';
  /** Whether nothing stands for `{}`: a POST whose fields may all be left out takes no body at all. */
  bodyOptional: boolean;
  /** Whether it is one of the requests that a workspace has a few of at once (`RequestSlots`): not where bytes come or go in a stream, or where it waits for others. */
  takesTurn: boolean;
  /** Whether the handler takes query parameters at all. */
  takesQuery: boolean;
  /** The classes that the body and the query are checked against. */
  bodyType: Type<object> | null;
  queryType: Type<object> | null;
  /** The status of a success. */
  status: number;
}

type Handler = (...args: never[]) => unknown;

@Injectable()
export class EndpointExplorer implements OnModuleInit {
  private readonly byHandler = new Map<object, Route>();
  private readonly patterns: { matches: (path: string) => boolean; method: string }[] = [];
  /** Method and path without the names of its parameters → the handler. */
  private readonly taken = new Map<string, string>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly extensions: ExtensionSet,
  ) {}

  /** Throws, and so stops the boot, when a route has no contract, or one that contradicts itself. */
  onModuleInit(): void {
    for (const { instance } of this.discovery.getControllers() as { instance: unknown }[]) {
      if (typeof instance === 'object' && instance !== null) this.explore(instance);
    }
  }

  get routes(): Route[] {
    return [...this.byHandler.values()];
  }

  /** The route of a handler. */
  of(handler: object): Route {
    const route = this.byHandler.get(handler);
    if (route === undefined) throw new Error('This handler was not there when the application booted.');
    return route;
  }

  /** The methods that a path answers, `HEAD` with `GET`; empty for a path that does not exist. */
  methodsOf(path: string): string[] {
    // No route takes it, whatever the method.
    if (!isDecodable(path)) return [];
    const methods = new Set(this.patterns.filter(({ matches }) => matches(path)).map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }

  /** Registers paths that a middleware answers and no handler, so that 405 and `Allow` know their methods. */
  answersBeside(matches: (path: string) => boolean, methods: readonly string[]): void {
    for (const method of methods) this.patterns.push({ matches, method });
  }

  private explore(controller: object): void {
    const prototype = Object.getPrototypeOf(controller) as Record<string, Handler>;
    const bases = list(Reflect.getMetadata(PATH_METADATA, controller.constructor));
    for (const key of this.scanner.getAllMethodNames(prototype)) {
      const handler = prototype[key];
      if (handler === undefined || !Reflect.hasMetadata(PATH_METADATA, handler)) continue;
      const paths = list(Reflect.getMetadata(PATH_METADATA, handler));
      const route = describe(controller.constructor, key, handler, join(bases[0] ?? '', paths[0] ?? ''));
      this.checkNames(route);
      checkConnections(route, controller);
      this.byHandler.set(handler, route);
      for (const base of bases) for (const path of paths) this.add(route, join(base, path));
    }
  }

  private add({ method, name }: Route, path: string): void {
    const key = `${method} ${path.replace(/:\w+/g, ':')}`;
    const other = this.taken.get(key);
    if (other !== undefined) {
      throw new Error(`${other} and ${name} both answer ${method} ${path}; change the path of one.`);
    }
    this.taken.set(key, name);
    this.patterns.push({ matches: pathPattern(path), method });
  }

  /** The compiler knows the names of the service, and not those of extensions. */
  private checkNames({ name, contract }: Route): void {
    const scopes = typeof contract.scopes === 'string' ? [] : contract.scopes;
    const conditional = Object.keys(contract.conditionalScopes ?? {}) as Scope[];
    const scope = [...scopes, ...conditional].find((one) => !this.extensions.scopes.includes(one));
    if (scope !== undefined) throw new Error(unknownName(name, 'scope', scope, this.extensions.scopes));
    const policies = [...POLICIES, ...Object.keys(this.extensions.policies)];
    const { policy } = contract;
    if (policy === null || policies.includes(policy)) return;
    throw new Error(unknownName(name, 'rate-limit policy', policy, policies));
  }
}

function describe(controller: object, key: string, handler: Handler, path: string): Route {
  const name = `${(controller as { name: string }).name}.${key}`;
  const contract = endpointOf(handler);
  if (contract === undefined) {
    throw new Error(
      `${name} has no @Endpoint. Every route states its contract: write for example ` +
        `@Endpoint({ summary: 'Read a task', policy: 'resource_read', scopes: ['tasks:read'], answer: taskSchema }) above it.`,
    );
  }
  const takes = parameterTypes(controller, key);
  const body = contract.body ?? (takes.has(RouteParamtypes.BODY) ? 'json' : 'none');
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const bodyType = takes.get(RouteParamtypes.BODY) ?? null;
  const problem = contradiction(contract, body, takes) ?? missing(contract, controller, key);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  return {
    name,
    method,
    path,
    contract,
    body,
    bodyOptional: method === 'POST' && bodyType !== null && allOptional(bodyType),
    takesTurn: body !== 'stream' && body !== 'raw' && isJson(contract.answer) && contract.asksOutside !== true,
    takesQuery: takes.has(RouteParamtypes.QUERY),
    bodyType,
    queryType: takes.get(RouteParamtypes.QUERY) ?? null,
    status: (Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined) ?? (method === 'POST' ? 201 : 200),
  };
}

/**
 * A statement of an injected repository takes a second connection of the pool while the route holds one: forty such requests wait for
 * each other for ever. What the controller's providers inject is theirs to know: they may read for other routes.
 */
function checkConnections({ name, contract }: Route, controller: object): void {
  const held = Object.entries(controller).find(([, value]) => value instanceof Repository);
  if (contract.transaction !== true || held === undefined) return;
  throw new Error(
    `${name}: its controller injects a repository, '${held[0]}'. In a route that writes use tx.manager.getRepository(…) of its @Tx; reads with an injected one stand in a provider.`,
  );
}

function unknownName(route: string, kind: string, name: string, known: readonly string[]): string {
  return `${route} names the ${kind} '${name}', which nobody brings. Known: ${known.join(', ')}. An extension says its own in defineExtension.`;
}

function isJson(answer: EndpointContract['answer']): boolean {
  if (answer instanceof z.ZodType) return true;
  const types = Object.values(answer).flatMap(({ content = {} }) => Object.keys(content));
  return types.every((type) => type === 'application/json');
}

function contradiction(contract: EndpointContract, body: string, takes: Takes): string | undefined {
  // In TypeScript the compiler checks this. A module may come as JavaScript.
  const { summary, answer } = contract as Partial<EndpointContract>;
  if (!summary || answer === undefined) {
    return `its @Endpoint has no 'summary' or no 'answer'; the document at /openapi.json is made of them.`;
  }
  if ((contract.policy === null) !== (contract.scopes === 'public')) {
    return `a public route has policy: null, and every other one names its rate-limit policy; change one of the two.`;
  }
  if (contract.idempotency !== undefined && !contract.transaction) {
    return `an Idempotency-Key needs a transaction: add 'transaction: true' to its @Endpoint, or drop 'idempotency'.`;
  }
  if (contract.idempotency !== undefined && body !== 'json' && body !== 'none') {
    return `an Idempotency-Key needs a body that is read first; drop 'idempotency' from its @Endpoint.`;
  }
  const mayWrite = writes(contract) || ['personal', 'administration'].includes(String(contract.scopes));
  if (contract.transaction && (['stream', 'raw'].includes(body) || !mayWrite)) {
    return `a transaction needs a scope that ends in ':write', or scopes: 'personal' or 'administration', and no body: '${body === 'raw' ? 'raw' : 'stream'}'; drop 'transaction' from its @Endpoint.`;
  }
  if (contract.etag && (contract.transaction || !(answer instanceof z.ZodType))) {
    return `an ETag stands for the JSON of a read; drop 'etag' from its @Endpoint.`;
  }
  if (takes.has(RouteParamtypes.BODY) && body !== 'json') {
    return `it takes a @Body, but its @Endpoint says body: '${body}'; drop one of the two.`;
  }
  return undefined;
}

/** What a handler takes that its contract does not give. */
function missing(contract: EndpointContract, controller: object, key: string): string | undefined {
  const parameters = Object.values(
    (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) as object | undefined) ?? {},
  );
  if (!contract.transaction && parameters.some(({ factory }: { factory?: unknown }) => factory === unitOfWorkOf)) {
    return `it takes @Tx, but its @Endpoint has no transaction; add 'transaction: true' to it.`;
  }
  const { prototype } = controller as { prototype: object };
  if (contract.scopes === 'public' && pageQueryOf(prototype, key) !== undefined) {
    return `it takes @Page, which belongs to a caller, and a public route has none; name its scopes, or take @Query.`;
  }
  return undefined;
}

type Takes = Map<RouteParamtypes, Type<object> | undefined>;

/** Which of @Body, @Query, @Param … a handler takes, and their classes: Nest keys its metadata `TYPE:INDEX`. */
function parameterTypes(controller: object, key: string): Takes {
  const metadata = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) as object | undefined) ?? {};
  const { prototype } = controller as { prototype: object };
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, prototype, key) as Type<object>[] | undefined) ?? [];
  const takes: Takes = new Map(
    Object.keys(metadata).map((name) => {
      const [type, index] = name.split(':');
      return [Number(type), types[Number(index)]];
    }),
  );
  const paged = pageQueryOf(prototype, key);
  return paged === undefined ? takes : takes.set(RouteParamtypes.QUERY, paged);
}

function list(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value ?? '']) as string[];
}

function join(...parts: string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter(Boolean);
  return `/${segments.join('/')}`;
}
