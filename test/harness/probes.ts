// What the probes of the cross-workspace suite are made of, and how their answers are compared.
import { randomUUID } from 'node:crypto';
import type { Row } from '../contract/endpoints.js';
import type { Answer, ErrorBody } from './client.js';
import type { Document } from './contract.js';

/** Ids of one's own, and of the other workspace, by the parameter that takes them. */
export type Ids = Record<string, string>;

export const nameOf = ({ method, path }: Pick<Row, 'method' | 'path'>) => `${method} ${path}`;
/** An environment is named by its slug. */
export const idNames = (row: Row) => [...row.path.matchAll(/\{(\w+Id|slug)\}/g)].map(([, name = '']) => name);

/** What differs from request to request; that it is there must not. */
const VOLATILE = /^(date|x-request-id|x-ratelimit-(global-)?(remaining|reset)|ratelimit)$/;

/** The path of a row with these ids. */
export function path(row: Row, ids: Ids): string {
  return row.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const id = ids[name] ?? { integrationSlug: 'github', version: '1' }[name];
    if (id === undefined) throw new Error(`What of its own has a caller for ${name}?`);
    return id;
  });
}

/** The same for each name. */
export function each(names: readonly string[], value: (name: string) => string): Ids {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

/** Where a reading of events stands, with its time. */
const POSITION = /"position":"[\w-]+"/;

/** All of an answer but what differs from request to request. */
export function shape({ status, headers, text, body }: Answer<ErrorBody>) {
  const requestId = (body as Partial<ErrorBody>).error?.requestId ?? randomUUID();
  const same = text.replaceAll(requestId, '').replace(POSITION, '');
  const volatile = (name: string) => VOLATILE.test(name) || (name === 'content-length' && POSITION.test(text));
  const shown = [...headers].map(([name, value]) => [name, volatile(name) ? '' : value]);
  return { status, headers: shown, text: same };
}

/** The names of fields that end in `Id`, wherever they are in a schema. */
export function idFields(schema: unknown, components: Document['components'], found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$ref') idFields(components['schemas']?.[String(value).split('/').at(-1) ?? ''], components, found);
    else idFields(value, components, found);
    if (key === 'properties') for (const name of Object.keys(value as object)) if (name.endsWith('Id')) found.add(name);
  }
  return found;
}
