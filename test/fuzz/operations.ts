// What the service's own document says can be asked of it; the requests are generated from this.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Document } from '../harness/contract.js';

/** As much of JSON Schema as the document's requests use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  contentSchema?: Schema;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
}

export interface Operation {
  /** `POST /v1/tasks/{taskId}/cancel` */
  name: string;
  method: string;
  template: string;
  needsCredential: boolean;
  pathNames: string[];
  query: Record<string, Schema>;
  key: 'required' | 'optional' | null;
  body: 'none' | 'json' | 'form';
  /** It may be left out. */
  bodyOptional: boolean;
  bodySchema: Schema;
  /** Answers 201: makes something. */
  creates: boolean;
}

export class Operations {
  readonly all: Operation[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: false });

  constructor(private readonly document: Document) {
    ajvFormats.default(this.ajv);
    this.ajv.addSchema(document, 'openapi');
    this.all = Object.entries(document.paths).flatMap(([template, methods]) =>
      Object.keys(methods).map((method) => this.operation(template, method)),
    );
  }

  named(name: string): Operation {
    const found = this.all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`The document has no ${name}.`);
    return found;
  }

  resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    const name = schema.$ref.replace('#/components/schemas/', '');
    return this.resolve(this.document.components['schemas']?.[name] ?? {});
  }

  /** Whether the document allows this body; null where there is none to allow. */
  allowsBody({ template, method, body, bodyOptional }: Operation, value: unknown): boolean | null {
    if (body !== 'json') return null;
    if (value === undefined) return bodyOptional;
    const at = `${escaped(template)}/${method.toLowerCase()}/requestBody/content/${escaped('application/json')}/schema`;
    return this.validator(`openapi#/paths/${at}`)(value);
  }

  /** Whether the document allows this query: known names, each once, with values that fit. */
  allowsQuery({ query }: Operation, pairs: readonly (readonly [string, string])[]): boolean {
    const names = pairs.map(([name]) => name);
    if (new Set(names).size < names.length) return false;
    return pairs.every(([name, text]) => {
      const schema = Object.hasOwn(query, name) ? query[name] : undefined;
      if (schema === undefined) return false;
      const value = schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
      return this.ajv.validate(schema, value);
    });
  }

  private operation(template: string, method: string): Operation {
    const described = this.document.paths[template]?.[method];
    const { parameters = [], security = [], requestBody, responses = {} } = described ?? {};
    const json = requestBody?.content['application/json']?.schema as Schema | undefined;
    const key = parameters.find(({ name }) => name === 'Idempotency-Key');
    return {
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      needsCredential: security.length > 0,
      pathNames: [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      query: Object.fromEntries(
        // `wait` would let each such request take up to half a minute.
        parameters
          .filter((one) => one.in === 'query' && one.name !== 'wait')
          .map(({ name, schema }) => exploded(name, schema)),
      ),
      key: key === undefined ? null : key.required === true ? 'required' : 'optional',
      body: requestBody === undefined ? 'none' : json === undefined ? 'form' : 'json',
      bodyOptional: requestBody?.required !== true,
      bodySchema: json ?? {},
      creates: '201' in responses,
    };
  }

  private validator(pointer: string): ValidateFunction {
    const validate = this.ajv.getSchema(pointer);
    if (validate === undefined) throw new Error(`There is no schema at ${pointer}.`);
    return validate;
  }
}

/** The properties of an object in JSON are parameters by themselves too (`metadata.<key>`): one of them stands for all. */
function exploded(name: string, schema: Schema): [string, Schema] {
  const { additionalProperties } = schema.contentSchema ?? schema;
  return typeof additionalProperties === 'object' ? [`${name}.ticket`, additionalProperties] : [name, schema];
}

function escaped(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1');
}
