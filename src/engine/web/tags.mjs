// The text of a page without a look at how it is built, in a time that only grows with its length.

/** Elements whose content is no text, up to their end tags. */
const RAW = new Set(['script', 'style', 'noscript', 'template', 'svg', 'title', 'textarea', 'iframe']);
/** Elements in a line. All others begin a new one. */
const INLINE = new Set(['a', 'abbr', 'b', 'cite', 'code', 'em', 'i', 'kbd', 'mark', 'q', 's', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var', 'wbr', 'font']); // prettier-ignore
const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…' };
const TAG = /[a-z][a-z0-9-]*/iy;

export function textWithoutTags(html) {
  const parts = [];
  let at = 0;
  for (let open = html.indexOf('<'); open >= 0;) {
    TAG.lastIndex = open + (html[open + 1] === '/' ? 2 : 1);
    const name = TAG.exec(html)?.[0].toLowerCase();
    if (name === undefined && !'!?/'.includes(html[open + 1] ?? 'x')) {
      // A sign of its own.
      open = html.indexOf('<', open + 1);
      continue;
    }
    parts.push(html.slice(at, open));
    const end = html.startsWith('<!--', open) ? html.indexOf('-->', open + 4) + 2 : html.indexOf('>', open);
    // As in a browser, what has no end takes the rest of the page.
    if (end < open) return tidied(parts);
    at = end + 1;
    if (name !== undefined && !INLINE.has(name)) parts.push('\n');
    if (RAW.has(name) && html[open + 1] !== '/') {
      const finish = new RegExp(`</${name}`, 'gi');
      finish.lastIndex = at;
      const found = finish.exec(html);
      if (found === null) return tidied(parts);
      at = found.index;
    }
    open = html.indexOf('<', at);
  }
  parts.push(html.slice(at));
  return tidied(parts);
}

function tidied(parts) {
  return parts
    .join('')
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
    })
    .split('\n')
    .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
