import { ApiError } from '../http/api-error.js';
import { Egress } from './egress.js';

/** Characters of an address. */
const LONGEST = 2048;

/**
 * The address that requests are sent to, of a URL that a client gives (reference §18). A name is not resolved here: its addresses are
 * checked at each attempt. Throws 400 `invalid_field`.
 * @param field of the body, for the error.
 * @param networks of `WEBHOOK_NETWORKS`.
 */
export function addressOf(field: string, url: string, networks: readonly string[]): string {
  const refused = (what: string) => new ApiError('invalid_field', `${field} ${what}.`, { param: field });
  if (/[\s\p{Cc}]/u.test(url) || !URL.canParse(url))
    throw refused('must be a URL, such as https://hooks.example/millwright');
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') throw refused('must begin with https://');
  if (parsed.username !== '' || parsed.password !== '') {
    throw refused('must have no user name and no password');
  }
  if (new Egress(networks).refuses(parsed)) {
    throw refused(
      parsed.protocol === 'https:'
        ? 'leads to an address that is not public, and lies in no network that the operator allows'
        : 'must begin with https://: http:// leads to networks that the operator allows, and nowhere else',
    );
  }
  if (parsed.protocol === 'http:' && networks.length === 0) throw refused('must begin with https://');
  parsed.hash = '';
  if (url.length > LONGEST || parsed.href.length > LONGEST) throw refused(`must have at most ${LONGEST} characters`);
  return parsed.href;
}
