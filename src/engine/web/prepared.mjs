// What is done to the elements of a page before it is Markdown.

/** What is no text of the page, or cannot be read as such. */
const UNREADABLE = [
  ...['title', 'script', 'style', 'noscript', 'template', 'svg', 'canvas', 'object', 'embed', 'audio', 'video'],
  ...['button', 'input', 'select', 'textarea', 'dialog', '[hidden]', '[aria-hidden="true"]'],
  // Numbers of lines beside code.
  ...['.linenos', '.lineno', '.linenodiv', '.line-numbers-rows'],
  // Questions about cookies, and menus of AMP.
  ...['[role="dialog"]', '[role="alertdialog"]', '#CybotCookiebotDialog', '#onetrust-consent-sdk', 'amp-sidebar'],
  ...['cookie-banner', 'cookie-consent', 'cookie-notice'].flatMap((name) => [`[id*="${name}"]`, `[class*="${name}"]`]),
].join(', ');
const HIDDEN =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|(?:left|top|text-indent)\s*:\s*-\d{4,}/i;
const MENUS = 'nav, [role="navigation"], [role="banner"], [role="contentinfo"], [role="search"]';
/** Characters of a page without its menus: with fewer the menus are the page. */
const ENOUGH = 200;

const textOf = (node) => (node.textContent ?? '').replace(/\s+/g, ' ').trim();

/** Before anything is chosen of the page. A reader has no page to which an address could be relative, and may ask for what it has read of. */
export function makeAbsolute(document, url) {
  const base = absolute(document.querySelector('base[href]')?.getAttribute('href') ?? '', url) ?? url;
  for (const [tag, attribute] of [
    ['a', 'href'],
    ['img', 'src'],
    ['amp-img', 'src'],
    ['iframe', 'src'],
    ['frame', 'src'],
  ]) {
    for (const node of document.querySelectorAll(`${tag}[${attribute}]`)) {
      const found = absolute(node.getAttribute(attribute), base);
      if (found === null) node.removeAttribute(attribute);
      else if (tag === 'a' && isHere(found, url)) leaveText(node);
      else node.setAttribute(attribute, found);
    }
  }
}

function absolute(text, base) {
  try {
    const { protocol, href } = new URL(text.trim(), base);
    return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:' ? href : null;
  } catch {
    return null;
  }
}

/** A place in the page, which cannot be asked for. */
const isHere = (href, url) => href.includes('#') && href.split('#')[0] === url.split('#')[0];

/** Of a link to a heading beside it not even that: it is a sign. */
function leaveText(link) {
  if (/^[^\p{L}\p{N}]*$/u.test(link.textContent ?? '')) {
    if (link.querySelector('img') === null) link.textContent = '';
  }
  link.removeAttribute('href');
}

/** The page without its menus, where there is no article in it. */
export function pageOf(document) {
  const whole = document.documentElement?.cloneNode(true) ?? null;
  if (whole === null) return null;
  whole.querySelector('head')?.remove();
  const mains = [...whole.querySelectorAll('main, [role="main"]')];
  const main = mains.length === 1 && textOf(mains[0]) !== '' ? mains[0] : whole;
  const root = main.cloneNode(true);
  for (const node of [...root.querySelectorAll(MENUS)]) node.remove();
  return textOf(root).length < ENOUGH && textOf(main).length > textOf(root).length * 2 ? main : root;
}

/** Changes what Markdown would lose, and takes away what nobody sees. */
export function prepare(root, document) {
  const put = (node, text) => node.replaceWith(document.createTextNode(text));
  for (const node of [...root.querySelectorAll('li input[type="checkbox"]')]) {
    put(node, node.hasAttribute('checked') ? '[x] ' : '[ ] ');
  }
  for (const node of [...root.querySelectorAll(UNREADABLE)]) node.remove();
  for (const node of [...root.querySelectorAll('[style]')]) if (HIDDEN.test(node.getAttribute('style'))) node.remove();
  for (const node of [...root.querySelectorAll('pre br')]) put(node, '\n');
  for (const node of [...root.querySelectorAll('pre div, pre p, pre li')]) begin(node, document);
  for (const node of [...root.querySelectorAll('math')]) put(node, mathsOf(node));
  for (const node of [...root.querySelectorAll('frame, iframe')]) link(node, document);
  for (const node of [...root.querySelectorAll('amp-img')]) {
    const picture = document.createElement('img');
    for (const name of ['alt', 'src']) picture.setAttribute(name, node.getAttribute(name) ?? '');
    node.replaceWith(picture);
  }
}

/** A line of code that is an element of its own. */
function begin(node, document) {
  const before = node.previousSibling?.textContent ?? '\n';
  if (!before.endsWith('\n')) node.before(document.createTextNode('\n'));
  const after = node.nextSibling?.textContent ?? '\n';
  if (!after.startsWith('\n') && !(node.textContent ?? '').endsWith('\n')) node.append(document.createTextNode('\n'));
}

/** As TeX, where the page has it; else its signs. */
function mathsOf(node) {
  const tex = node.querySelector('annotation[encoding="application/x-tex"]')?.textContent.trim();
  for (const one of [...node.querySelectorAll('annotation, annotation-xml')]) one.remove();
  return tex === undefined || tex === '' ? textOf(node) : `$${tex}$`;
}

/** What stands in a frame is a page of its own. */
function link(node, document) {
  const src = node.getAttribute('src');
  if (src === null) return node.remove();
  const paragraph = document.createElement('p');
  const anchor = document.createElement('a');
  anchor.setAttribute('href', src);
  anchor.textContent = node.getAttribute('title') || node.getAttribute('name') || src;
  paragraph.append(anchor);
  node.replaceWith(paragraph);
}
