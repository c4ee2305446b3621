// The arguments of a foreign tool as models are shown them (reference §28). One provider refuses a whole request for one odd schema.
import { isJsonObject } from '../../models/conversation.js';
import { cleanJson } from '../clean-json.js';
import { weightOf } from './weight.js';

type Schema = Record<string, unknown>;

/** How far references are followed. */
const DEPTH = 8;
/** Of a schema as a model is shown it. */
const SHOWN_BYTES = 16 * 1024;
/** Of a schema as a server sends it: it may have definitions that it does not use. */
export const SENT_BYTES = 256 * 1024;
/** Of what is read to show it, where references lead to the same again and again. */
const READ_BYTES = 64 * 1024;
const NESTED = 100;
const LEFT_OUT = ['$schema', '$id', '$defs', 'definitions', '$comment', '$anchor'];
/** Of the root, which has to be an object. */
const COMBINATIONS = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'enum', 'const'];
/** Their keys are names, and no words of JSON Schema. */
const NAMED = ['properties', 'patternProperties', 'dependentSchemas'];
/** Their values are data. */
const DATA = ['default', 'enum', 'const', 'examples', 'required'];

/** Why a schema cannot be shown, as a clause. */
export class UnfitSchemaError extends Error {
  override readonly name = 'UnfitSchemaError';
}
export const TOO_MUCH = 'the schemas of its list are too much to read';
const TOO_DEEP = 'its schema is nested too deeply';
const TOO_LARGE = `its schema has more than ${SHOWN_BYTES / 1024} KiB`;

/** Before anything is done with it. Throws {@link UnfitSchemaError}. */
export function checkSent(schema: Schema): void {
  const { bytes, depth } = weightOf(schema, { bytes: SENT_BYTES, depth: NESTED });
  if (depth > NESTED) throw new UnfitSchemaError(TOO_DEEP);
  if (bytes > SENT_BYTES) throw new UnfitSchemaError(`its schema is sent with more than ${SENT_BYTES / 1024} KiB`);
}

/** With local references put in place, and without what only tools of schemas read. Throws {@link UnfitSchemaError}. @param room for all of a list. */
export function shownSchema(given: Schema, room: { left: number }): Schema {
  let read = 0;
  const take = (bytes: number) => {
    read += bytes;
    room.left -= bytes;
    if (read > READ_BYTES) throw new UnfitSchemaError(TOO_LARGE);
    if (room.left < 0) throw new UnfitSchemaError(TOO_MUCH);
  };
  const data = (value: unknown, level: number): unknown => {
    const { bytes, depth } = weightOf(value, { bytes: READ_BYTES - read, depth: NESTED - level });
    take(bytes);
    if (level + depth > NESTED) throw new UnfitSchemaError(TOO_DEEP);
    return value;
  };
  /** @param followed how many references led here. @param level how deep it stands. */
  const of = (value: unknown, followed: number, level: number): unknown => {
    if (!Array.isArray(value) && !isJsonObject(value)) return data(value, level);
    take(2);
    if (level > NESTED) throw new UnfitSchemaError(TOO_DEEP);
    if (Array.isArray(value)) return value.map((one) => of(one, followed, level + 1));
    const { $ref: reference, ...own } = value;
    if (reference !== undefined) {
      if (followed === DEPTH || typeof reference !== 'string') return {};
      take(reference.length);
      const found = lookUp(given, reference);
      if (!isJsonObject(found)) return {};
      return { ...(of(found, followed + 1, level) as Schema), ...(of(own, followed, level) as Schema) };
    }
    return fields(own, (key, one) => {
      take(key.length + 3);
      if (LEFT_OUT.includes(key) || key.startsWith('x-') || one === null) return undefined;
      if (DATA.includes(key)) return data(one, level + 1);
      if (!NAMED.includes(key) || !isJsonObject(one)) return of(one, followed, level + 1);
      return fields(one, (name, part) => {
        take(name.length + 3);
        return of(part, followed, level + 2);
      });
    });
  };
  const root = of(given, 0, 0) as Schema;
  for (const key of COMBINATIONS) delete root[key];
  const shown = { ...root, type: 'object', properties: isJsonObject(root['properties']) ? root['properties'] : {} };
  const json = JSON.stringify(shown);
  if (Buffer.byteLength(json) > SHOWN_BYTES) throw new UnfitSchemaError(TOO_LARGE);
  return cleanJson(shown, json) as Schema;
}

function fields(of: Schema, map: (key: string, value: unknown) => unknown): Schema {
  // Not by assignment: a name may be `__proto__`.
  return Object.fromEntries(
    Object.entries(of).flatMap(([key, value]) => {
      const mapped = map(key, value);
      return mapped === undefined ? [] : [[key, mapped]];
    }),
  );
}

/** What a reference within the schema names; undefined for one that leads elsewhere. */
function lookUp(root: Schema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  const steps = reference.split('/').slice(1);
  return steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined;
  }, root);
}
