// The thread that makes Markdown of pages (reference §27, docs/decisions/0105): a page of 30 KB may take it many seconds.
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parentPort } from 'node:worker_threads';
import { markdownOf } from './markdown.mjs';
import { textWithoutTags } from './tags.mjs';

/** Elements in elements. Readability takes 0.9 s for a page of 500, and 8 s for one of 2,000. */
const DEEPEST = 400;
const TITLE = 300;
/** What is no text of the page, or cannot be read as such. */
const UNREADABLE =
  'title, script, style, noscript, template, svg, canvas, iframe, object, embed, audio, video, button, input, select, textarea, dialog, [hidden], [aria-hidden="true"]';

/** Null: it is nested too deeply. */
function read(html, url) {
  // Without a root linkedom makes no body.
  const { document } = parseHTML(
    /<html[\s>]/i.test(html.slice(0, 10_000)) ? html : `<html><body>${html}</body></html>`,
  );
  if (isTooDeep(document)) return null;
  const title = document.querySelector('title')?.textContent ?? '';
  makeAbsolute(document, url);
  const body = document.body?.cloneNode(true);
  const article = isProbablyReaderable(document)
    ? new Readability(document, { serializer: (root) => root, keepClasses: true }).parse()
    : null;
  const root = (article?.content ?? null) || body;
  if (root === null || root === undefined) return { title: shortened(title), text: '' };
  for (const node of [...root.querySelectorAll(UNREADABLE)]) node.remove();
  for (const node of [...root.querySelectorAll('[style]')]) {
    if (/display\s*:\s*none|visibility\s*:\s*hidden/i.test(node.getAttribute('style'))) node.remove();
  }
  return { title: shortened(article?.title || title), text: markdownOf(root) };
}

function isTooDeep(document) {
  const left = [[document.documentElement, 1]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [node, depth] = next;
    if (depth > DEEPEST) return true;
    for (let child = node?.firstElementChild ?? null; child !== null; child = child.nextElementSibling) {
      left.push([child, depth + 1]);
    }
  }
  return false;
}

/** A reader has no page to which an address could be relative, and may ask for what it has read of. */
function makeAbsolute(document, url) {
  const base = absolute(document.querySelector('base[href]')?.getAttribute('href') ?? '', url) ?? url;
  for (const [tag, attribute] of [
    ['a', 'href'],
    ['img', 'src'],
  ]) {
    for (const node of document.querySelectorAll(`${tag}[${attribute}]`)) {
      const found = absolute(node.getAttribute(attribute), base);
      if (found === null) node.removeAttribute(attribute);
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

function shortened(title) {
  const plain = title.replace(/\s+/g, ' ').trim();
  return plain.length > TITLE ? `${plain.slice(0, TITLE - 1).toWellFormed()}…` : plain;
}

parentPort.on('message', ({ html, url, plain }) => {
  parentPort.postMessage('begun');
  if (plain) {
    const title = /<title[^>]{0,1000}>([^<]{0,2000})/i.exec(html.slice(0, 100_000))?.[1] ?? '';
    parentPort.postMessage({ title: shortened(textWithoutTags(title)), text: textWithoutTags(html) });
    return;
  }
  let page = null;
  try {
    page = read(html, url);
  } catch {
    // Of a page that the parsers cannot cope with the text is still there.
  }
  parentPort.postMessage(page);
});
