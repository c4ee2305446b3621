// Holds every answer that a test gets against the service's own OpenAPI document.
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { createHash } from 'node:crypto';

interface Header {
  required?: boolean;
  schema: { type: string };
}
interface ResponseObject {
  headers?: Record<string, Header>;
  content?: Record<string, { schema?: object }>;
}
export interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, ResponseObject>;
  'x-conditional-scopes'?: { scope: string; when: string }[];
  'x-rate-limit-policy'?: string;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
}

export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  headers: Headers;
  /** The body as text. */
  text: string;
}

const known = new Map<string, Promise<Contract | null>>();

/**
 * Fails unless the answer is one that the document of the service at `url` describes: status, content type, body,
 * headers. A service that has no document to show (a worker, or one that is gone) is not asked.
 */
export async function checkAnswer(url: string, exchange: Exchange): Promise<void> {
  let contract = await contractOf(url);
  // Another service may have come up at the address of one that is closed.
  if (contract?.templates(exchange.path).length === 0) {
    known.delete(url);
    contract = await contractOf(url);
  }
  const problem = contract?.problemOf(exchange);
  if (typeof problem === 'string') {
    const { method, path, status, text } = exchange;
    throw new Error(`${method} ${path} answered ${status}, against /openapi.json: ${problem}\n${text.slice(0, 2000)}`);
  }
}

function contractOf(url: string): Promise<Contract | null> {
  let found = known.get(url);
  if (found === undefined) {
    found = read(url);
    known.set(url, found);
    // The caller that waits for it hears of an error.
    found.then(
      (contract) => contract === null && known.delete(url),
      () => known.delete(url),
    );
  }
  return found;
}

async function read(url: string): Promise<Contract | null> {
  const response = await document(url).catch(() => null);
  if (response === null || response.status === 404) return null;
  if (response.status !== 200) throw new Error(`The document cannot be made: ${response.text}`);
  return new Contract(JSON.parse(response.text) as Document, response.text);
}

/** Documents differ by the extensions of a service and its address. */
const DOCUMENTS = 4;
const kept = globalThis as { millwrightValidators?: Map<string, Ajv2020> };

/** One for all services and test files of this process that show the same document: to compile its schemas takes 0.2 s. */
function validatorOf(document: Document, text: string): Ajv2020 {
  const all = (kept.millwrightValidators ??= new Map<string, Ajv2020>());
  const hash = createHash('sha256').update(text).digest('hex');
  let ajv = all.get(hash);
  if (ajv === undefined) {
    // Against a document the schema of schemas says nothing, and to compile it takes 0.1 s.
    ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
    ajvFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    const [oldest] = all.keys();
    if (oldest !== undefined && all.size === DOCUMENTS) all.delete(oldest);
    all.set(hash, ajv);
  }
  return ajv;
}

/** Rejects also when the service is killed in the middle of it. */
async function document(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/openapi.json`);
  return { status: response.status, text: await response.text() };
}

/** A document that answers can be held against. */
export class Contract {
  private readonly ajv: Ajv2020;
  private readonly patterns: { template: string; pattern: RegExp }[];

  constructor(
    private readonly document: Document,
    text = JSON.stringify(document),
  ) {
    this.ajv = validatorOf(document, text);
    this.patterns = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    }));
  }

  /** Templates that a path fits, those with the fewest parameters first; one that cannot be decoded fits none. */
  templates(path: string): string[] {
    const [bare = ''] = path.split('?');
    if (!decodable(bare)) return [];
    const parameters = (template: string) => template.split('{').length;
    return this.patterns
      .filter(({ pattern }) => pattern.test(bare))
      .map(({ template }) => template)
      .sort((a, b) => parameters(a) - parameters(b));
  }

  /** What is wrong with an answer, or null. */
  problemOf(exchange: Exchange): string | null {
    const method = exchange.method === 'HEAD' ? 'get' : exchange.method.toLowerCase();
    const templates = this.templates(exchange.path);
    const template = templates.find((one) => this.document.paths[one]?.[method] !== undefined);
    if (template === undefined) return this.nowhere(exchange, templates.length > 0 ? 405 : 404);
    const at = `/paths/${escaped(template)}/${method}/responses/${exchange.status}`;
    const response = this.resolve<ResponseObject>(at);
    if (response === undefined) return 'the operation has no such status.';
    const bodyProblem = this.bodyProblem(response, at, exchange) ?? this.codeProblem(exchange.text);
    return this.headerProblem(response, exchange) ?? bodyProblem ?? general(exchange);
  }

  /** An answer to what the document does not have. */
  private nowhere(exchange: Exchange, expected: number): string | null {
    if (exchange.status !== expected) return `it is in no path of the document: ${expected} is expected.`;
    if (expected === 405 && !exchange.headers.has('allow')) return 'a 405 needs the header Allow.';
    if (exchange.method === 'HEAD') return null;
    return this.mismatch('/components/schemas/Error', exchange.text) ?? general(exchange);
  }

  private headerProblem({ headers = {} }: ResponseObject, exchange: Exchange): string | null {
    for (const [name, given] of Object.entries(headers)) {
      const { required = false, schema } = this.deref<Header>(given);
      const value = exchange.headers.get(name);
      if (value === null && required) return `the header ${name} is missing.`;
      if (value !== null && schema.type === 'integer' && !/^\d+$/.test(value)) return `${name} is no number: ${value}.`;
    }
    return null;
  }

  private bodyProblem({ content }: ResponseObject, at: string, exchange: Exchange): string | null {
    if (exchange.method === 'HEAD' || content === undefined) {
      return exchange.text === '' ? null : 'a body, where there should be none.';
    }
    const type = exchange.headers.get('content-type')?.split(';')[0] ?? '';
    const key = type in content ? type : '*/*' in content ? '*/*' : undefined;
    if (key === undefined) return `the content type ${type} is not described.`;
    if (content[key]?.schema === undefined) return null;
    const response = this.pointerOf(at);
    return this.mismatch(`${response}/content/${escaped(key)}/schema`, exchange.text);
  }

  /** The list of codes is open, so the schema takes any; what the service itself says must be one that is listed. */
  private codeProblem(text: string): string | null {
    const listed = this.at('/components/schemas/StatusReason/properties/code/anyOf/0/enum') as string[] | undefined;
    const strange = [...text.matchAll(/"statusReason":\{"code":"([^"]*)"/g)].find(([, code]) => !listed?.includes(code ?? '')); // prettier-ignore
    return strange === undefined ? null : `the code of the status reason is not listed: ${strange[1]}.`;
  }

  private mismatch(pointer: string, text: string): string | null {
    const validate = this.ajv.getSchema(`openapi#${pointer}`);
    if (validate === undefined) throw new Error(`There is no schema at ${pointer}.`);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'the body is no JSON.';
    }
    return validate(value) === true ? null : this.ajv.errorsText(validate.errors, { separator: '\n  ' });
  }

  /** Where a pointer ends after following a reference. */
  private pointerOf(pointer: string): string {
    const found = this.at(pointer) as { $ref?: string } | undefined;
    return found?.$ref === undefined ? pointer : this.pointerOf(found.$ref.slice(1));
  }

  private resolve<T>(pointer: string): T | undefined {
    return this.at(this.pointerOf(pointer)) as T | undefined;
  }

  private deref<T>(value: object): T {
    const { $ref } = value as { $ref?: string };
    return ($ref === undefined ? value : this.resolve($ref.slice(1))) as T;
  }

  private at(pointer: string): unknown {
    const keys = pointer.split('/').slice(1).map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~')); // prettier-ignore
    return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], this.document);
  }
}

function decodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function escaped(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1');
}

/** What holds for every answer (reference §1). */
function general({ path, status, headers, text }: Exchange): string | null {
  const id = headers.get('x-request-id');
  if (id === null) return 'the header X-Request-Id is missing.';
  if (path.startsWith('/v1/') && !/no-store|no-cache/.test(headers.get('cache-control') ?? ''))
    return 'it may be cached.';
  if (status < 400 || text === '' || !text.startsWith('{"error"')) return null;
  const { error } = JSON.parse(text) as {
    error: Record<'requestId' | 'message' | 'code', string> & { retryable: boolean };
  };
  if (error.requestId !== id) return 'error.requestId is not X-Request-Id.';
  if (!/^[^\n]+\.$/.test(error.message)) return 'the message of an error is one sentence.';
  const retryable =
    status >= 500 || status === 429 || ['idempotency_in_progress', 'too_much_unread'].includes(error.code);
  return error.retryable === retryable ? null : 'retryable says the wrong thing.';
}
