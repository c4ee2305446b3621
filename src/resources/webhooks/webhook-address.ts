import { Egress } from '../../platform/egress/egress.js';
import { ApiError } from '../../platform/http/api-error.js';

const LONGEST = 2048;

/**
 * The address that requests are sent to, of a URL that a client gives (reference §18). A name is not resolved here: its addresses are
 * checked at each attempt. Throws 400 `invalid_field`.
 * @param networks of `WEBHOOK_NETWORKS`.
 */
export function addressOf(url: string, networks: readonly string[]): string {
  if (/[\s\p{Cc}]/u.test(url) || !URL.canParse(url))
    throw refusal('must be a URL, such as https://hooks.example/millwright');
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') throw refusal('must begin with https://');
  if (parsed.username !== '' || parsed.password !== '') {
    throw refusal('must have no user name and no password; the signature says who sends');
  }
  if (new Egress(networks).refuses(parsed)) {
    throw refusal(
      parsed.protocol === 'https:'
        ? 'leads to an address that is not public, and lies in no network that the operator allows'
        : 'must begin with https://: http:// leads to networks that the operator allows, and nowhere else',
    );
  }
  if (parsed.protocol === 'http:' && networks.length === 0) throw refusal('must begin with https://');
  parsed.hash = '';
  if (url.length > LONGEST || parsed.href.length > LONGEST) throw refusal(`must have at most ${LONGEST} characters`);
  return parsed.href;
}

function refusal(what: string): ApiError {
  return new ApiError('invalid_field', `url ${what}.`, { param: 'url' });
}
