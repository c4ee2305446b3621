import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import {
  ARRAY_MAX_SIZE,
  ARRAY_UNIQUE,
  getMetadataStorage,
  type ValidationError,
  ValidationTypes,
} from 'class-validator';
import { ApiError } from './api-error.js';
import { gatheredField } from './fields.js';
import { parseJsonObject } from './json-body.js';
import { shortened } from './json-walk.mjs';

/** Of unknown names: how many an error lists. */
const NAMES = 10;

/** Checks bodies and queries against their DTO classes; the first fault is answered, with its path (reference §10). */
@Injectable()
export class FieldsPipe extends ValidationPipe {
  constructor() {
    super({
      whitelist: true,
      forbidNonWhitelisted: true,
      transform: true,
      exceptionFactory: (errors) => new InvalidFields(errors),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // A path parameter is text. PostgreSQL takes none with a NUL, and nothing has such a name: with this character nothing is found either.
    if (metadata.type === 'param' && typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
    // What this service's own decorators give needs no check.
    if (metadata.type !== 'query' && metadata.type !== 'body') return value;
    const inQuery = metadata.type === 'query';
    if (inQuery) checkQuery(value as Record<string, unknown>);
    refuseNames(value as object, '', inQuery);
    if (!inQuery && metadata.metatype !== undefined) {
      const inner = innerOf(metadata.metatype);
      checkLengths(value as Record<string, unknown>, inner);
      checkNested(value as Record<string, unknown>, inner);
    }
    try {
      return (await super.transform(
        inQuery ? gathered(value as Record<string, unknown>, metadata.metatype) : value,
        metadata,
      )) as unknown;
    } catch (error) {
      throw error instanceof InvalidFields ? fault(error.errors, inQuery) : error;
    }
  }
}

class InvalidFields extends Error {
  constructor(readonly errors: ValidationError[]) {
    super('invalid fields');
  }
}

function checkQuery(query: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw invalidQuery(`The query parameter "${name}" is given more than once.`, name);
    if (String(value).includes('\0')) {
      throw invalidQuery(`The query parameter "${name}" contains a NUL character.`, name);
    }
  }
}

/**
 * Refuses names that the libraries would drop in silence: class-validator takes the names of `Object.prototype`, for example
 * `hasOwnProperty`, for known fields, class-transformer leaves them out, and Nest leaves out `prototype`. `path` is the one of
 * the object, with its dot.
 */
function refuseNames(value: object, path: string, inQuery: boolean): void {
  const name = Object.keys(value).find((key) => key in Object.prototype || key === 'prototype');
  if (name !== undefined) throw unknown(path + name, inQuery);
}

/** A query with its parameters `<field>.<key>` in one object, where its class has such a field, beside those of `<field>` as JSON. */
function gathered(query: Record<string, unknown>, type: Type | undefined): object {
  const field = gatheredField(type);
  if (field === undefined) return query;
  const own = Object.keys(query).filter((name) => name.startsWith(`${field}.`));
  if (own.length === 0 && !(field in query)) return query;
  const inside = Object.fromEntries(own.map((name) => [name.slice(field.length + 1), query[name]]));
  const others = Object.fromEntries(Object.entries(query).filter(([name]) => !own.includes(name)));
  const { [field]: given } = query;
  return { ...others, [field]: given === undefined ? inside : both(objectIn(given), inside) };
}

/** The object of a text in JSON; what is none is left as it is, for the validator to refuse. */
function objectIn(text: unknown): unknown {
  try {
    return parseJsonObject(Buffer.from(String(text)));
  } catch {
    return text;
  }
}

function both(given: unknown, more: object): unknown {
  return typeof given === 'object' ? { ...given, ...more } : given;
}

/** The fields of a DTO class that hold lists or objects, by their names. */
interface Inner {
  /** Those with a maximum, and that. */
  lists: { name: string; most: number }[];
  /** Those that hold one object of a class. */
  objects: string[];
  /** Those, and the ones that hold a list of them. */
  nested: string[];
}

type Type = NonNullable<ArgumentMetadata['metatype']>;
/** Known for each class from its first body on: class-validator goes through all classes to tell. */
const INNER = new WeakMap<Type, Inner>();

function innerOf(type: Type): Inner {
  const known = INNER.get(type);
  if (known !== undefined) return known;
  const checks = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const nested = checks.filter((check) => check.type === ValidationTypes.NESTED_VALIDATION);
  const limits = checks.filter(({ name }) => name === ARRAY_MAX_SIZE);
  const inner: Inner = {
    lists: limits.map(({ propertyName: name, constraints }) => ({ name, most: (constraints as [number])[0] })),
    objects: nested.filter(({ each }) => !each).map(({ propertyName }) => propertyName),
    nested: nested.map(({ propertyName }) => propertyName),
  };
  INNER.set(type, inner);
  return inner;
}

/**
 * Measures the lists of a body first: class-validator checks each item of a list that is too long, or stands in place of one object,
 * 10 µs and an error for each.
 */
function checkLengths(body: Record<string, unknown>, { lists, objects }: Inner): void {
  const listed = objects.find((name) => Array.isArray(body[name]));
  if (listed !== undefined) {
    throw new ApiError('invalid_field', `${listed} must be an object.`, { param: listed });
  }
  for (const { name, most } of lists) {
    const list = body[name];
    if (!Array.isArray(list) || list.length <= most) continue;
    throw new ApiError('invalid_field', `${name} must contain no more than ${most} elements.`, { param: name });
  }
}

/** Refuses the same names in the objects inside a body that are checked with it, and in those inside them. A query has none. */
function checkNested(body: Record<string, unknown>, { nested }: Inner): void {
  for (const name of nested) checkInside(body[name], name);
}

/** A body has 32 levels at most. */
function checkInside(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  const inList = Array.isArray(value);
  if (!inList) refuseNames(value, `${path}.`, false);
  for (const [key, inner] of Object.entries(value)) checkInside(inner, inList ? `${path}[${key}]` : `${path}.${key}`);
}

function fault(errors: ValidationError[], inQuery: boolean): ApiError {
  const strange = unknownOnes(errors);
  if (strange.length > 1) {
    const more = strange.length > NAMES ? ` and ${strange.length - NAMES} more` : '';
    const message = `The ${inQuery ? 'query parameters' : 'fields'} ${strange.slice(0, NAMES).join(', ')}${more} are not known here.`;
    return new ApiError(inQuery ? 'invalid_query' : 'unknown_field', message);
  }
  const { path, property, constraints } = first(errors, '');
  if (constraints['whitelistValidation'] !== undefined) return unknown(path, inQuery);
  // Decorators register from the last to the first, so the one that is written first, the type, stands last.
  const [check, said] = Object.entries(constraints).at(-1) ?? [];
  const reason =
    check === ARRAY_UNIQUE ? `${property} must not name anything twice` : (said ?? `${property} is not valid`);
  // class-validator speaks of the list when an item is no object: 'each value in nested property links must be …'.
  const named = /^\d+$/.test(property) ? reason.replace(/^each value in nested property \S+/, path) : reason;
  const message = `${named.replace(property, () => path).replace(/\.$/, '')}.`;
  return inQuery ? invalidQuery(message, path) : new ApiError('invalid_field', message, { param: path });
}

/** The unknown names on the top level, quoted. */
function unknownOnes(errors: ValidationError[]): string[] {
  return errors.flatMap(({ property, constraints }) =>
    constraints?.whitelistValidation === undefined ? [] : [`"${shortened(property)}"`],
  );
}

interface Fault {
  /** `attachments[0].uploadId` */
  path: string;
  property: string;
  constraints: Record<string, string>;
}

function first(errors: ValidationError[], parent: string): Fault {
  const [error] = errors;
  if (error === undefined) return { path: parent, property: parent, constraints: {} };
  const { property, constraints, children = [] } = error;
  const path = /^\d+$/.test(property) ? `${parent}[${property}]` : parent === '' ? property : `${parent}.${property}`;
  return constraints === undefined ? first(children, path) : { path, property, constraints };
}

function unknown(whole: string, inQuery: boolean): ApiError {
  const path = shortened(whole);
  if (inQuery) return invalidQuery(`The query parameter "${path}" is not known here.`, path);
  return new ApiError('unknown_field', `The field "${path}" is not known here.`, { param: path });
}

function invalidQuery(message: string, param: string): ApiError {
  return new ApiError('invalid_query', message, { param });
}
