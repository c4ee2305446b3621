import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { JsonSchema } from '../../platform/http/documented.js';
import { EndpointExplorer, type Route } from '../../platform/http/endpoint-explorer.js';
import { OpenApi } from '../../platform/http/openapi/openapi.js';
import { type Tool, TOOLS } from './tools.js';

/** How many items of a list, where the client does not say. */
export const DEFAULT_LIMIT = 20;

/** What clients are told of a tool. */
export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: {
    type: 'object';
    properties: Record<string, JsonSchema>;
    required?: string[];
    additionalProperties: false;
  };
  annotations: Tool['hints'];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}
interface Operation {
  parameters?: { name: string; in: string; schema: JsonSchema; description?: string }[];
  requestBody?: { content: Record<string, { schema?: JsonSchema }> };
}

/** The definitions of the tools, with schemas made of what `/openapi.json` is made of; the same for every caller. */
@Injectable()
export class ToolDefinitions implements OnApplicationBootstrap {
  /** In the order of {@link TOOLS}. */
  all: readonly ToolDefinition[] = [];
  private routes = new Map<string, Route>();

  constructor(
    private readonly openApi: OpenApi,
    private readonly endpoints: EndpointExplorer,
  ) {}

  /** Throws, and so stops the boot, for a tool that names what its operation has not. */
  async onApplicationBootstrap(): Promise<void> {
    const document = JSON.parse(await this.openApi.text()) as Document;
    this.routes = new Map(this.endpoints.routes.map((route) => [`${route.method} ${route.path}`, route]));
    this.all = Object.entries(TOOLS).map(([name, tool]) => definition(name, tool, document));
  }

  of(name: string): ToolDefinition {
    const found = this.all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}.`);
    return found;
  }

  /** The route of a tool. */
  routeOf({ operation }: Tool): Route {
    const route = this.routes.get(operation);
    if (route === undefined) throw new Error(`There is no route ${operation}.`);
    return route;
  }
}

function definition(name: string, tool: Tool, document: Document): ToolDefinition {
  const [method = '', path = ''] = tool.operation.split(' ');
  const ids = [...path.matchAll(/:(\w+)/g)].map(([, id = '']) => id);
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`The tool ${name} is ${tool.operation}, which no route is.`);
  const { properties, required } = fieldsOf(operation, document);
  const fields = (tool.fields ?? []).map((field) => {
    const schema = properties[field];
    if (schema === undefined) throw new Error(`The tool ${name} takes ${field}, which ${tool.operation} does not.`);
    return [field, { ...short(schema), ...(field === 'limit' && { default: DEFAULT_LIMIT }) }] as const;
  });
  const needed = [...ids, ...required.filter((field) => tool.fields?.includes(field)), ...(tool.needs ?? [])];
  return {
    name,
    title: tool.title,
    description: tool.description,
    inputSchema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(ids.map((id) => [id, { type: 'string' }])),
        ...Object.fromEntries(fields),
        ...tool.own,
      },
      ...(needed.length === 0 ? {} : { required: needed }),
      additionalProperties: false,
    },
    annotations: tool.hints,
  };
}

/** The fields of an operation's body and query, with what they refer to in its place. */
function fieldsOf({ parameters = [], requestBody }: Operation, { components }: Document) {
  const schemaOf = (name: string) => components.schemas[name] ?? {};
  const body = inPlace(requestBody?.content['application/json']?.schema ?? {}, schemaOf) as JsonSchema;
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema, description }) => [name, { ...schema, description }] as const);
  const properties = {
    ...Object.fromEntries(query),
    ...(body['properties'] as Record<string, JsonSchema> | undefined),
  };
  return { properties, required: (body['required'] ?? []) as string[] };
}

/** What the route checks and a model need not know before. */
const LIMITS = ['pattern', 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'propertyNames', 'uniqueItems']; // prettier-ignore

/** A field's schema with the first sentence of what is said of it. What is inside has names that say enough: all definitions stand in every window. */
function short({ description, ...schema }: JsonSchema): JsonSchema {
  const [first] = ((description ?? '') as string).split(/(?<=\.) /);
  return { ...(silent(schema) as JsonSchema), ...(first && { description: first.replace(/\.$/, '') }) };
}

function silent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(silent);
  if (typeof value !== 'object' || value === null) return value;
  const said = Object.entries(value).filter(([key, one]) => {
    return !(key === 'description' && typeof one === 'string') && (!LIMITS.includes(key) || isField(one, key));
  });
  return Object.fromEntries(said.map(([key, one]) => [key, silent(one)]));
}

/** A field may be called like a keyword. */
const isField = (value: unknown, key: string) =>
  key !== 'propertyNames' && typeof value === 'object' && value !== null && 'type' in value;

/** A schema without references, and without null, which counts as absent everywhere. */
function inPlace(value: unknown, schemaOf: (name: string) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((one) => inPlace(one, schemaOf));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, examples: _examples, ...schema } = value as JsonSchema;
  if (typeof $ref === 'string') return inPlace({ ...schemaOf($ref.split('/').at(-1) ?? ''), ...schema }, schemaOf);
  const { anyOf, ...rest } = schema as { anyOf?: JsonSchema[] };
  const [only, ...others] = anyOf?.filter((one) => one['type'] !== 'null') ?? [];
  if (only !== undefined && others.length === 0) return inPlace({ ...only, ...rest }, schemaOf);
  const { type } = schema;
  const plain = Array.isArray(type) ? { type: type.find((one) => one !== 'null') as unknown } : {};
  return Object.fromEntries(Object.entries({ ...schema, ...plain }).map(([key, one]) => [key, inPlace(one, schemaOf)]));
}
