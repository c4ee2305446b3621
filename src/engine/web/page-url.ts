/** Why a page is not had: a sentence for the model that asked for it. */
export class WebError extends Error {
  override readonly name = 'WebError';
}

/** Characters of an address. */
export const LONGEST = 2048;

/**
 * The address that is asked, of one that somebody has written: by https, without the part behind `#`. Throws {@link WebError}.
 * @param base what it is relative to.
 */
export function pageUrl(text: string, base?: URL): URL {
  if (text.length > LONGEST) throw new WebError(`The URL has ${text.length} characters; at most ${LONGEST} are taken.`);
  const plain = text.trim();
  if (/[\s\p{Cc}]/u.test(plain) || !URL.canParse(plain, base?.href))
    throw new WebError(`${JSON.stringify(plain)} is no URL.`);
  const url = new URL(plain, base?.href);
  if (url.protocol === 'http:') url.protocol = 'https:';
  if (url.protocol !== 'https:') throw new WebError(`The URL has to begin with https://, and not with ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw new WebError('The URL must have no user name and no password.');
  url.hash = '';
  if (url.href.length > LONGEST) throw new WebError(`The URL has more than ${LONGEST} characters.`);
  return url;
}
