// The secrets of one session: where the value of each is put into a request, and where its placeholder may not stand (docs/decisions/0096).
import { Finder } from './mask.mjs';
import { Refusal } from './refusal.mjs';

const PREFIX = 'mwsec_';
const LETTERS = 24;
export const PLACEHOLDER_LENGTH = PREFIX.length + LETTERS;
const PLACEHOLDER = new RegExp(`${PREFIX}[A-Za-z0-9]{${LETTERS}}`, 'g');
/** In front of what stands in a header, by the form of its binding. */
const SCHEMES = { bearer: 'Bearer', token: 'token', basic: 'Basic' };

/**
 * A secret as the thread of the proxy has it.
 * @typedef {{ host: string, port: number, methods: string[] | null, paths: string[] | null, place: { header: string, form: 'bearer' | 'basic' | 'token' | 'raw', user: string | null } | { query: string } }} Binding
 * @typedef {{ name: string, placeholder: string, value: string | null, approved: boolean, bindings: Binding[] }} Secret value: null when it is deleted. approved: false while a person has to allow its use.
 * @typedef {{ host: string, port: number, method: string, target: string, headers: string[] }} Asked headers: names and values in turn.
 */
export class Vault {
  #secrets;
  #byPlaceholder;
  /** Finds the values in answers, also of secrets that are bound elsewhere. */
  finder;

  /**
   * @param {Secret[]} secrets
   * @param {Finder} [finder] that of the vault before: it goes on to find what was there.
   */
  constructor(secrets, finder = new Finder([], { pieces: true })) {
    this.#secrets = secrets;
    finder.add(secrets.filter(({ value }) => value !== null));
    this.finder = finder;
    this.#byPlaceholder = new Map(secrets.map((secret) => [secret.placeholder, secret]));
  }

  /** Whether connections to it are opened. */
  binds(host, port) {
    return this.#secrets.some(({ bindings }) => bindings.some((binding) => leadsTo(binding, host, port)));
  }

  /** Whether a value may go there; that of a secret that is gone may not. */
  leads(host, port) {
    return this.#secrets.some(
      ({ value, bindings }) => value !== null && bindings.some((binding) => leadsTo(binding, host, port)),
    );
  }

  /** Throws a {@link Refusal} for a body, or the piece of one, in which a placeholder stands. */
  checkBody(bytes) {
    if (!bytes.includes(PREFIX)) return;
    for (const secret of this.#in(bytes.toString('latin1'))) throw misplaced(secret, 'the body of a request');
  }

  /**
   * The request with values in the place of placeholders. Throws a {@link Refusal} where one may not stand.
   * @param {Asked} asked
   * @returns {{ target: string, headers: string[], used: string[] }} used: the names of the secrets.
   */
  put(asked) {
    const used = new Set();
    const target = this.#target(asked, used);
    const headers = [];
    for (let at = 0; at < asked.headers.length; at += 2) {
      const name = asked.headers[at];
      headers.push(name, this.#header(asked, name, asked.headers[at + 1], used));
    }
    return { target, headers, used: [...used] };
  }

  #header(asked, name, text, used) {
    const basic = /^basic +([\w+/=-]+) *$/i.exec(text);
    const plain = basic === null ? null : Buffer.from(basic[1], 'base64').toString();
    const secret = this.#in(name)[0] ?? this.#in(text)[0] ?? (plain === null ? undefined : this.#in(plain)[0]);
    if (secret === undefined) return text;
    const header = name.toLowerCase();
    const places = this.#places(secret, asked, (place) => place.header?.toLowerCase() === header);
    if (places.length === 0) throw misplaced(secret, `the header ${name}`);
    const times = asked.headers.filter((one, at) => at % 2 === 0 && one.toLowerCase() === header).length;
    if (times > 1)
      throw new Refusal(
        403,
        `The header ${name} is there ${times} times, and has the secret ${secret.name}.`,
        'secret_misplaced',
        secret.name,
      );
    for (const place of places) {
      const filled = fill(place, secret, text, plain);
      if (filled !== null && this.#in(filled).length === 0) {
        used.add(secret.name);
        return filled;
      }
    }
    const forms = places.map(({ form }) => (form === 'raw' ? 'the text alone' : `'${SCHEMES[form]} …'`));
    throw new Refusal(
      403,
      `The secret ${secret.name} goes into the header ${name} as ${forms.join(' or ')}.`,
      'secret_misplaced',
      secret.name,
    );
  }

  #target(asked, used) {
    const { target } = asked;
    const [path, ...queries] = target.split('?');
    const fields = queries.join('?').split('&');
    const filled = fields.map((field) => {
      const [key, ...rest] = field.split('=');
      const secret = this.#byPlaceholder.get(decoded(rest.join('=')));
      if (secret === undefined) return field;
      if (this.#places(secret, asked, ({ query }) => query === decoded(key)).length === 0)
        throw misplaced(secret, 'an address');
      used.add(secret.name);
      return `${key}=${encodeURIComponent(secret.value)}`;
    });
    const rest = used.size === 0 ? target : [path, ...fields.filter((field, at) => filled[at] === field)].join(' ');
    for (const text of [rest, decoded(rest), decoded(decoded(rest))])
      for (const secret of this.#in(text)) throw misplaced(secret, 'an address');
    return used.size === 0 ? target : `${path}?${filled.join('&')}`;
  }

  /** The places of a secret in this request. Throws a {@link Refusal} when it is gone, bound to none of its kind, or not approved. */
  #places(secret, { host, port, method, target }, fits) {
    const at = secret.bindings.filter((binding) => leadsTo(binding, host, port) && fits(binding.place));
    if (at.length === 0) return [];
    if (secret.value === null) throw new Refusal(403, `The secret ${secret.name} is gone.`, 'secret_gone', secret.name);
    const allowed = at.filter(({ methods, paths }) => (methods?.includes(method) ?? true) && allows(paths, target));
    if (allowed.length > 0 && !secret.approved) throw unapproved(secret);
    if (allowed.length > 0) return allowed.map(({ place }) => place);
    throw new Refusal(
      403,
      `The secret ${secret.name} is not for ${method} of this path at ${host}.`,
      'secret_not_bound',
      secret.name,
    );
  }

  /** The secrets whose placeholders stand in a text. */
  #in(text) {
    return (text.match(PLACEHOLDER) ?? []).flatMap((one) => this.#byPlaceholder.get(one) ?? []);
  }
}

function misplaced({ name }, where) {
  return new Refusal(
    403,
    `The secret ${name} may not stand in ${where} here: its value is put only where a binding names it.`,
    'secret_misplaced',
    name,
  );
}

function unapproved({ name }) {
  const message = `The secret ${name} waits for a person's approval: call use_secret with its name.`;
  return new Refusal(403, message, 'secret_not_approved', name);
}

/** Whether a binding is for requests to this host and port. */
export function leadsTo(binding, host, port) {
  if (binding.port !== port) return false;
  if (!binding.host.startsWith('*.')) return binding.host === host;
  const label = host.slice(0, 1 - binding.host.length);
  return host.endsWith(binding.host.slice(1)) && label !== '' && !label.includes('.');
}

/** The header's text with the value; null when the text has not the form of the place. */
function fill({ form, user }, { placeholder, value }, text, plain) {
  if (form === 'raw') return text.replaceAll(placeholder, () => value);
  if (form === 'basic') {
    if (plain === null) return null;
    const [name, ...words] = plain.split(':');
    const password = words.join(':');
    const inName = name === placeholder && (password === '' || /^x-oauth-basic$/.test(password));
    if (!inName && password !== placeholder) return null;
    const given = inName
      ? `${user === null ? '' : `${user}:`}${value}${user === null ? `:${password}` : ''}`
      : `${user ?? name}:${value}`;
    return `Basic ${Buffer.from(given).toString('base64')}`;
  }
  const [scheme, word, ...others] = text.trim().split(/ +/);
  const fits = scheme.toLowerCase() === SCHEMES[form].toLowerCase() && word === placeholder && others.length === 0;
  return fits ? `${SCHEMES[form]} ${value}` : null;
}

/** Whether a path is among some globs: `*` stands for anything without a slash, `**` for anything. One that can be read in two ways is not. */
function allows(paths, target) {
  if (paths === null) return true;
  const raw = target.split('?')[0];
  const path = decoded(raw);
  if (/%(2f|5c|2e)/i.test(raw) || /\\|\/\/|\/\.{1,2}(\/|$)|%/.test(path)) return false;
  return paths.some((glob) => matches(glob, path) || (glob.endsWith('/**') && matches(glob.slice(0, -3), path)));
}

/** In time of both lengths multiplied, whatever they are: tenants write the globs, and sandboxes the paths. */
function matches(glob, path) {
  const tokens = glob.match(/\*\*|[^]/g) ?? [];
  const stars = (token) => token === '*' || token === '**';
  /** Which tokens may come next; a star may stand for nothing. */
  const reach = (places) => {
    tokens.forEach((token, at) => stars(token) && places[at] && (places[at + 1] = true));
    return places;
  };
  let places = reach([true]);
  for (const character of path) {
    const next = [];
    tokens.forEach((token, at) => {
      if (!places[at]) return;
      if (stars(token)) next[at] = token === '**' || character !== '/';
      else if (token === character) next[at + 1] = true;
    });
    places = reach(next);
  }
  return places[tokens.length] === true;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
