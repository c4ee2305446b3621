// Puts the OpenAPI document together from the routes of the running application (reference §2).
import { z } from 'zod';
import type { ErrorStatus } from '../api-error.js';
import type { JsonSchema } from '../documented.js';
import { AnswerSchemas } from './openapi-answers.js';
import { type DocumentedAnswer, SCOPES } from '../endpoint.js';
import type { Route } from '../endpoint-explorer.js';
import { errorResponse, errorSchema, header, headerComponents, rateLimitHeaders } from './openapi-errors.js';
import type { ExtensionSet } from '../../plugins/extension-set.js';
import { RequestSchemas } from './openapi-requests.js';
import { EXAMPLES, INFO, PATH_PARAMETERS, SECURITY_SCHEMES, tagsOf } from './openapi-texts.js';

/**
 * Throws when two routes, or two schemas, would have one name in it.
 * @param origin of absolute links, or empty for the one that a client reads the document from.
 */
export function openApiDocument(routes: readonly Route[], origin: string, extensions: ExtensionSet): JsonSchema {
  const answers = new AnswerSchemas(extensions);
  const parts: Parts = { extensions, requests: new RequestSchemas(extensions), answers, responses: {} };
  checkIds(routes);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const operations = (paths[templateOf(route.path)] ??= {});
    operations[route.method.toLowerCase()] = operation(route, parts);
  }
  const { requests, responses } = parts;
  const known = { Error: errorSchema(extensions.errors) };
  const schemas = exemplified(disjoint(known, answers.components(), requests.components));
  const components = { schemas, responses, headers: headerComponents() };
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: origin || '/' }],
    tags: tagsOf(routes.map(({ path }) => path)),
    paths,
    components: { ...reachable(components, paths), securitySchemes: SECURITY_SCHEMES },
  };
}

/** Puts all schemas into one record. Bodies and answers share their names, so two of one name would hide each other. */
function disjoint(...groups: Record<string, JsonSchema>[]): Record<string, JsonSchema> {
  const all = Object.assign({}, ...groups) as Record<string, JsonSchema>;
  const twice = Object.keys(all).find((name) => groups.filter((group) => name in group).length > 1);
  if (twice === undefined) return all;
  throw new Error(`Two schemas are called '${twice}' in the document: one of a body, one of an answer. Rename one.`);
}

/** Generators of clients make a function of each operation. */
function checkIds(routes: readonly Route[]): void {
  const seen = new Map<string, Route>();
  for (const route of routes) {
    const id = operationId(route.name);
    const other = seen.get(id);
    if (other !== undefined) {
      const both = `${other.name} of ${other.path} and ${route.name} of ${route.path}`;
      throw new Error(`Two operations would be called '${id}' in the document: ${both}. Rename one controller.`);
    }
    seen.set(id, route);
  }
}

function exemplified(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const example = (name: string) => (name in EXAMPLES ? { examples: [EXAMPLES[name]] } : {});
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, { ...schema, ...example(name) }]));
}

interface Parts {
  extensions: ExtensionSet;
  requests: RequestSchemas;
  answers: AnswerSchemas;
  responses: Record<string, JsonSchema>;
}

/** `/v1/tasks/:taskId` → `/v1/tasks/{taskId}`. */
function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function operation(route: Route, { extensions, requests, answers, responses }: Parts): JsonSchema {
  const { contract, path } = route;
  const parameters = [...pathParameters(path), ...queryParameters(route, requests), ...headerParameters(route)];
  const conditional = Object.entries(contract.conditionalScopes ?? {}).map(([scope, when]) => ({ scope, when }));
  return {
    operationId: operationId(route.name),
    summary: contract.summary,
    description: describe(route),
    tags: tagsOf([path]).map(({ name }) => name),
    security: security(contract.scopes, extensions),
    // A requirement of `personalApiKey` names no scopes by contract, and yet such a key has only those that it was given (reference §3).
    ...(typeof contract.scopes === 'string' ? {} : { 'x-personal-key-scopes': contract.scopes }),
    ...(contract.scopes === 'administration' ? { 'x-personal-key-scopes': SCOPES } : {}),
    ...(conditional.length === 0 ? {} : { 'x-conditional-scopes': conditional }),
    ...(contract.policy === null ? {} : { 'x-rate-limit-policy': contract.policy }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, requests),
    responses: { ...errors(route, responses, extensions), ...successes(route, answers) },
  };
}

/** `TasksController.create` → `tasksCreate`. */
function operationId(name: string): string {
  const [controller = '', handler = ''] = name.split('.');
  const noun = controller.replace(/Controller$/, '');
  return noun.charAt(0).toLowerCase() + noun.slice(1) + handler.charAt(0).toUpperCase() + handler.slice(1);
}

function describe({ contract }: Route): string {
  const { scopes, description, conditionalScopes = {}, administrators = false } = contract;
  const more = Object.entries(conditionalScopes).map(([scope, when]) => `, and \`${scope}\` when ${when}`);
  const sentence =
    typeof scopes === 'string'
      ? NEEDS[scopes]
      : `A key, personal or of a service, needs ${scopes.map((scope) => `\`${scope}\``).join(' and ')}${more.join('')}.`;
  const role = administrators ? ' For owners and admins of the workspace.' : '';
  return [description, sentence + role].filter(Boolean).join('\n\n');
}

const NEEDS = {
  any: 'Needs any one of the scopes, or a personal key.',
  personal: 'Needs a personal key.',
  administration: 'Needs a personal key of an owner or admin of the workspace with all ten scopes.',
  public: 'Needs no credential.',
};

function security(scopes: Route['contract']['scopes'], extensions: ExtensionSet): JsonSchema[] {
  if (scopes === 'public') return [];
  if (scopes === 'personal' || scopes === 'administration') return [{ personalApiKey: [] }];
  const services = scopes === 'any' ? extensions.scopes.map((scope) => [scope]) : [scopes];
  return [{ personalApiKey: [] }, ...services.map((needed) => ({ serviceId: [...needed] }))];
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ id$/, '');
    const own = PATH_PARAMETERS[name] ?? { description: `Which ${words}.`, schema: { type: 'string' } };
    return { name, in: 'path', required: true, ...own };
  });
}

function queryParameters({ queryType }: Route, requests: RequestSchemas): JsonSchema[] {
  if (queryType === null) return [];
  return requests.parameters(queryType).map(({ name, schema: { description, ...schema }, required }) => {
    return { name, in: 'query', ...(required ? { required } : {}), ...(description ? { description } : {}), schema };
  });
}

function headerParameters({ contract }: Route): JsonSchema[] {
  if (contract.idempotency === undefined) return [];
  const description =
    'A new UUID for each operation, the same again for a retry: the effect happens once. Kept for 24 hours.';
  const schema = { type: 'string', minLength: 1, maxLength: 257 };
  return [
    { name: 'Idempotency-Key', in: 'header', required: contract.idempotency === 'required', description, schema },
  ];
}

const FORM: JsonSchema = {
  type: 'object',
  properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
  required: ['file'],
  additionalProperties: false,
};

const STREAMED: Record<string, JsonSchema> = {
  'multipart/form-data': { schema: FORM },
  'application/json': { schema: { type: 'object' } },
};

function requestBody({ body, bodyType, bodyOptional, contract }: Route, requests: RequestSchemas): JsonSchema {
  if (body === 'none') return {};
  const { accepts = 'multipart/form-data' } = contract;
  if (body === 'raw') return { requestBody: { required: true, content: { '*/*': {} } } };
  if (body === 'stream') {
    return { requestBody: { required: true, content: { [accepts]: STREAMED[accepts] ?? {} } } };
  }
  const schema = bodyType === null ? { type: 'object' } : requests.body(bodyType);
  return { requestBody: { required: !bodyOptional, content: { 'application/json': { schema } } } };
}

const TAGGED = { headers: { ETag: 'Weak: the same as long as the answer is.' } };

function successes({ contract, status, name }: Route, schemas: AnswerSchemas): JsonSchema {
  const { answer, location, idempotency, etag } = contract;
  const headers = {
    'X-Request-Id': header('X-Request-Id'),
    ...(contract.scopes === 'public' ? {} : rateLimitHeaders(true)),
    ...(idempotency === undefined ? {} : { 'Idempotent-Replayed': header('Idempotent-Replayed', false) }),
  };
  const answers: Record<number, DocumentedAnswer> =
    answer instanceof z.ZodType
      ? {
          [status]: { description: 'Success.', content: { 'application/json': answer }, ...(etag && TAGGED) },
          ...(etag && { 304: { description: 'The client has it.', ...TAGGED } }),
        }
      : answer;
  const ref = (schema: z.ZodType) => schemas.ref(schema, operationId(name));
  return mapped(answers, ({ description, content, headers: own = {} }, answered) => {
    const more = mapped(own, (said) => ({ description: said, required: true, schema: { type: 'string' } }));
    const made = location === undefined || answered !== '201' ? {} : { Location: header('Location') };
    const all = { ...headers, ...made, ...more };
    if (content === undefined) return { description, headers: all };
    return { description, headers: all, content: mapped(content, (one) => (one === null ? {} : { schema: ref(one) })) };
  });
}

function mapped<T>(
  record: Record<string, T>,
  change: (value: T, key: string) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

function errors(
  { contract, body }: Route,
  responses: Record<string, JsonSchema>,
  extensions: ExtensionSet,
): JsonSchema {
  const known = contract.scopes !== 'public';
  const statuses: ErrorStatus[] = [400, 404, 413, 431, 500, ...(contract.errors ?? [])];
  if (known) statuses.push(401, 402, 403, 409, 429, 503);
  // A signature takes the place of a credential, and the bytes are taken under any content type.
  else if (body === 'raw') statuses.push(401, 429, 503);
  if (body === 'json' || body === 'stream') statuses.push(415);
  return Object.fromEntries(
    statuses.map((status) => {
      // Before its handler has charged it.
      const charged = known && !(contract.ownCharge === true && status === 403);
      const [name, response] = errorResponse(status, charged, extensions.errors);
      responses[name] = response;
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** Keeps what the paths refer to, and leaves out what belongs to modules that are not in this process. */
function reachable<T extends Record<string, Record<string, JsonSchema>>>(components: T, from: JsonSchema): T {
  const found = new Map<string, Record<string, JsonSchema>>(Object.keys(components).map((kind) => [kind, {}]));
  const visit = (node: JsonSchema) => {
    for (const [, kind = '', name = ''] of JSON.stringify(node).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const kept = found.get(kind);
      const target = components[kind]?.[name];
      if (kept === undefined || target === undefined || name in kept) continue;
      kept[name] = target;
      visit(target);
    }
  };
  visit(from);
  return Object.fromEntries(found) as T;
}
