// How Entra and Okta spell what they send, made what RFC 7643 and 7644 say. docs/decisions/0123 has the sources.
import type { JsonObject } from '../../platform/http/json-body.js';

/** Before an attribute of the core schema it says nothing. */
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;
/** `emails[type eq "work"].value` */
const ELEMENT = /^(\w+)\[(\w+) eq "([^"]*)"\]\.(\w+)$/;
/** These are no texts. */
const BOOLEANS = new Set(['active', 'primary']);

/** Entra sends "True" and "False" where a boolean is expected, unless it is told otherwise. */
export function withBooleans(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withBooleans(one, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withBooleans(one, key)]));
  }
  if (typeof value !== 'string' || !BOOLEANS.has(name) || !/^(?:true|false)$/i.test(value)) return value;
  return value.toLowerCase() === 'true';
}

/**
 * A PATCH as the library takes it. @param current the resource that it changes: Entra adds `phoneNumbers[type eq "work"].value` where there is
 * no such number yet, and removes members of a group that has none.
 */
export function patchOf(body: JsonObject, current: JsonObject): JsonObject {
  const { Operations: operations } = body;
  if (!Array.isArray(operations)) return body;
  return {
    ...body,
    Operations: operations.map((one: unknown) => operationOf(one, current)).filter((one) => one !== null),
  };
}

function operationOf(given: unknown, current: JsonObject): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { op, path, value, ...others } = given as JsonObject;
  const verb = typeof op === 'string' ? op.toLowerCase() : op;
  if (typeof path !== 'string') {
    return { ...others, op: verb, value: isObject(value) ? withoutFixed(withBooleans(value) as JsonObject) : value };
  }
  const name = path.replace(CORE, '');
  const told = withBooleans(value, name.split('.').at(-1));
  if (verb === 'remove') {
    const [, list = ''] = /^(\w+)(?:\[|$)/.exec(name) ?? [];
    return list !== '' && current[list] === undefined
      ? null
      : { ...others, op: verb, path: name, ...(told !== undefined && { value: told }) };
  }
  const [, list = '', key = '', wanted = '', field = ''] = ELEMENT.exec(name) ?? [];
  if (list !== '' && !elementsOf(current[list]).some((one) => one[key] === wanted)) {
    return { ...others, op: 'add', path: list, value: [{ [key]: wanted, [field]: told }] };
  }
  return { ...others, op: verb, path: name, value: told };
}

/** Okta names the id, which nobody changes, and both name schemas. */
function withoutFixed(value: JsonObject): JsonObject {
  const kept = Object.entries(value).filter(([key]) => !['id', 'schemas', 'meta'].includes(key));
  return Object.fromEntries(kept.map(([key, one]) => [key.replace(CORE, ''), one]));
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const elementsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
