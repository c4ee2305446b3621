// A secret while it is written. Its value is no part of this: it lies in its field alone (`value-field.tsx`).
import type { ChangeSecret, Secret } from '../../../api/client.ts';

export type Scope = Secret['scope'];
export type Form = 'bearer' | 'basic' | 'token' | 'raw';
type Bindings = NonNullable<ChangeSecret['bindings']>;
type Binding = Bindings[number];

/** Of requests that may have a value. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof METHODS)[number];
/** A secret has at most so many places. */
export const MOST_BINDINGS = 16;

export interface BindingDraft {
  /** Tells it from the others, whatever stands in it. */
  id: number;
  host: string;
  port: string;
  where: 'header' | 'query';
  header: string;
  form: Form;
  user: string;
  query: string;
  methods: Method[];
  paths: string[];
}

export interface Draft {
  name: string;
  scope: Scope;
  projectId: string;
  description: string;
  env: string;
  bindings: BindingDraft[];
}

const HTTPS = 443;

let ids = 0;
export const newBinding = (): BindingDraft => ({
  ...{ id: ++ids, host: '', port: String(HTTPS) },
  ...{ where: 'header', header: 'Authorization', form: 'bearer', user: '', query: '' },
  ...{ methods: [], paths: [] },
});

export const newDraft = (scope: Scope): Draft => ({
  ...{ name: '', scope, projectId: '', description: '', env: '' },
  bindings: [newBinding()],
});

export const draftOf = ({ name, scope, projectId, description, env, bindings }: Secret): Draft => ({
  ...{ name, scope, projectId: projectId ?? '', description: description ?? '' },
  env: env === name ? '' : env,
  bindings: bindings.map(({ host, port, methods, paths, place }) => ({
    ...newBinding(),
    ...{ host, port: String(port), methods: METHODS.filter((one) => methods?.includes(one)), paths: paths ?? [] },
    ...('header' in place
      ? { where: 'header', header: place.header, form: place.form, user: place.user ?? '' }
      : { where: 'query', query: place.query }),
  })),
});

/** The fields in which something has to stand, and nothing does. */
export function missingIn({ name, scope, projectId, bindings }: Draft): string[] {
  const missing = [
    ...(name.trim() === '' ? ['name'] : []),
    ...(scope === 'project' && projectId === '' ? ['projectId'] : []),
  ];
  bindings.forEach(({ host, where, header, query }, n) => {
    if (host.trim() === '') missing.push(`bindings[${n}].host`);
    if (where === 'header' && header.trim() === '') missing.push(`bindings[${n}].place.header`);
    if (where === 'query' && query.trim() === '') missing.push(`bindings[${n}].place.query`);
  });
  return missing;
}

/** What is changed of it, without its value. Bindings that are the same as before are not sent: they would count as a change. */
export function changesOf(draft: Draft, before: Secret): ChangeSecret {
  const { name, description, env, bindings } = sentOf(draft);
  const same = JSON.stringify(bindings) === JSON.stringify(sentOf(draftOf(before)).bindings);
  return { name, description, env, ...(same ? {} : { bindings }) };
}

export const sentOf = ({ name, description, env, bindings }: Draft) => ({
  name: name.trim(),
  description: description.trim() || null,
  env: env.trim() || name.trim(),
  bindings: bindings.map(bindingOf),
});

const bindingOf = (draft: BindingDraft): Binding => ({
  host: draft.host.trim(),
  // What is no number the service refuses, with a sentence.
  port: draft.port.trim() === '' ? HTTPS : Number(draft.port),
  methods: draft.methods.length === 0 ? null : draft.methods,
  paths: draft.paths.length === 0 ? null : draft.paths,
  place: placeOf(draft),
});

function placeOf({ where, header, form, user, query }: BindingDraft): Binding['place'] {
  if (where === 'query') return { query: query.trim() };
  return { header: header.trim(), form, ...(form === 'basic' && { user: user.trim() || null }) };
}

/** How it stands in a request, with dots for the value. */
export function asSent({ where, header, form, user, query }: BindingDraft): string {
  const value = '•••';
  if (where === 'query') return `?${query.trim() || 'key'}=${value}`;
  const text = {
    bearer: `Bearer ${value}`,
    token: `token ${value}`,
    basic: `Basic base64(${user.trim() || '*'}:${value})`,
    raw: value,
  };
  return `${header.trim()}: ${text[form]}`;
}
