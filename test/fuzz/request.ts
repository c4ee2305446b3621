// From a step to what goes over the line, and what may be expected of the answer.
import { DEFECTS, written } from './forms.js';
import { changed, spelled } from './mutations.js';
import type { Operations } from './operations.js';
import type { Scene } from './scene.js';
import type { Distortion, Step } from './steps.js';

export interface Sent {
  method: string;
  /** With its query. */
  path: string;
  headers: [string, string][];
  body: Buffer | null;
  /** `POST /v1/tasks`, for the statistics. */
  operation: string;
  expected: Expectation;
}

export interface Expectation {
  /** The credential is one that the service knows. */
  known: boolean;
  /**
   * True: the document allows the request and the caller may do everything, so it is not refused for its form. False: the
   * document does not allow it, so it is refused. Null: the document does not say.
   */
  allowed: boolean | null;
}

export interface People {
  /** By name; null sends no credential. */
  secrets: Record<string, string | null>;
  /** Names of those whose key is good. */
  known: Set<string>;
  /** Names of those who lack no scope. */
  mighty: Set<string>;
}

type Aspect<A extends Distortion['aspect']> = Extract<Distortion, { aspect: A }>;

/** The request of a step, with the ids that the scene knows by now. */
export function requestOf(step: Step, scene: Scene, operations: Operations, people: People): Sent {
  const { operation, distortions, who } = step;
  const of = <A extends Distortion['aspect']>(aspect: A) => distortions.filter((one): one is Aspect<A> => one.aspect === aspect);
  const pairs = queryOf(step, scene, of('query'));
  const value = of('field').reduce((body, { at, change }) => changed(body, at, change), scene.filled(step.body));
  const { type, bytes } = bodyOf(step, value, of('spelling'), of('form'), of('body'));
  const query = pairs.map(([name, text]) => `${encodeURIComponent(name)}=${text}`).join('&');
  const headers: [string, string][] = [
    ...authorization(people.secrets[who] ?? null, of('authorization')),
    ...(type === null ? [] : [['Content-Type', type] as [string, string]]),
    ...(operation.key === null ? [] : [['Idempotency-Key', `${scene.nonce}-${step.key}`] as [string, string]]),
    ...step.headers,
  ];
  const method = of('method').at(-1)?.value ?? operation.method;
  const bent = distortions.some(({ aspect }) => !['field', 'query'].includes(aspect));
  const json = operation.body === 'json' && method === operation.method ? String(bytes) : '';
  const known = people.known.has(who) && of('authorization').length === 0;
  return {
    method,
    path: pathOf(step, scene, of('path'), method === 'DELETE') + (pairs.length === 0 ? '' : `?${query}`),
    headers: of('header').reduce(withHeader, headers),
    body: bytes,
    operation: operation.name,
    expected: {
      known,
      allowed: TWICE.test(json) ? false : bent || !known || !people.mighty.has(who) || !operation.needsCredential ? null
        : allowedBy(operations, step, value, pairs),
    },
  };
} // prettier-ignore

/** As the spelling `duplicate` writes it. */
const TWICE = /^\{("(?:[^"\\]|\\.)*":)null,\1/;

/** Of these characters and names the document says nothing: they are refused in every text. */
const SILENT = /\\u0000|\\ud[89a-f]|"(__proto__|constructor|prototype)":/i;

function allowedBy(operations: Operations, { operation }: Step, value: unknown, pairs: [string, string][]): boolean | null {
  const decoded = pairs.map(([name, text]) => [name, decodedQuery(text)] as const);
  if (decoded.some(([, text]) => text === null)) return null;
  // Dropping a field of undefined is what JSON does too.
  const body = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
  if (!operations.allowsQuery(operation, decoded as [string, string][])) return false;
  const allowed = operations.allowsBody(operation, body);
  if (allowed !== false && SILENT.test(JSON.stringify([decoded, body]))) return null;
  return allowed ?? true;
} // prettier-ignore

function decodedQuery(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function pathOf({ operation, path }: Step, scene: Scene, distorted: Aspect<'path'>[], ends: boolean): string {
  const given = (name: string, i: number) => path[i] ?? { $id: name, from: 'own' as const, nth: 0 };
  const parts = operation.pathNames.map((name, i) => [`{${name}}`, encodeURIComponent(scene.resolve(given(name, i), ends && i === operation.pathNames.length - 1))] as const); // prettier-ignore
  for (const { at, text } of distorted) {
    const part = parts[at % parts.length];
    if (part !== undefined) parts[at % parts.length] = [part[0], text];
  }
  return parts.reduce((filled, [name, text]) => filled.replace(name, () => text), operation.template);
}

function queryOf({ query }: Step, scene: Scene, distorted: Aspect<'query'>[]): [string, string][] {
  const right = query.map(([name, value]) => [name, encodeURIComponent(String(scene.filled(value)))] as [string, string]);
  return [...right, ...distorted.map(({ name, value }) => [name, value] as [string, string])];
} // prettier-ignore

function bodyOf(
  { operation, form }: Step,
  value: unknown,
  spellings: Aspect<'spelling'>[],
  defects: Aspect<'form'>[],
  texts: Aspect<'body'>[],
): { type: string | null; bytes: Buffer | null } {
  const [text] = texts;
  if (text !== undefined) {
    return { type: operation.body === 'none' ? null : 'application/json', bytes: Buffer.from(text.text) };
  }
  if (form !== null) {
    const defect = DEFECTS[defects[0]?.value ?? '']?.(form) ?? {};
    const { type, body } = { ...written(form), ...defect };
    return { type, bytes: Buffer.from(body, 'latin1') };
  }
  if (operation.body === 'none') return { type: null, bytes: null };
  const json = JSON.stringify(value) ?? '';
  const [how] = spellings;
  return { type: 'application/json', bytes: how === undefined ? Buffer.from(json) : spelled(json, how.value) };
}

function authorization(secret: string | null, distorted: Aspect<'authorization'>[]): [string, string][] {
  const [given] = distorted;
  if (given !== undefined) return [['Authorization', given.value]];
  return secret === null ? [] : [['Authorization', `Bearer ${secret}`]];
}

/** Two types say nothing of the body; two hosts are no HTTP request, refused before it is known who asks (raw-stories.ts). */
const ONCE = ['Content-Type', 'Host'];

/** Null takes the header away; one that is there already is sent twice, unless it may be there once only. */
function withHeader(headers: [string, string][], { name, value }: Aspect<'header'>): [string, string][] {
  const rest = headers.filter(([own]) => own !== name || (value !== null && !ONCE.includes(name)));
  return value === null ? rest : [...rest, [name, value]];
}

/** The request as a command line, for a person who wants to see the failure again. */
export function curl({ method, path, headers, body }: Sent, url: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const words = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = body === null ? [] : [`--data-binary ${dataWord(body, quoted)}`];
  return ['curl', '-i', '--path-as-is', `-X ${method}`, ...words, ...data, quoted(url + path)].join(' ');
}

/** Bytes that a shell would not keep are written as `$'…'`. */
function dataWord(body: Buffer, quoted: (text: string) => string): string {
  if (body.length > 4000) return `<${body.length} bytes: ${JSON.stringify(body.subarray(0, 200).toString('latin1'))}…>`;
  const text = body.toString('latin1');
  if (/^[\x20-\x7e]*$/.test(text)) return quoted(text);
  const bytes = [...body].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`);
  return `$'${bytes.join('')}'`;
}
