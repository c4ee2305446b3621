// The thread that makes Markdown of pages (reference §27, docs/decisions/0105): a page of 30 KB may take it many seconds.
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parentPort } from 'node:worker_threads';
import { markdownOf } from './markdown.mjs';
import { makeAbsolute, pageOf, prepare } from './prepared.mjs';
import { textWithoutTags } from './tags.mjs';

/** Elements in elements. Readability takes 0.9 s for a page of 500, and 8 s for one of 2,000. */
const DEEPEST = 400;
const TITLE = 300;
/** Characters that a page may gain: a long base of many short links makes it a hundred times as long. */
const GAIN = 1_000_000;

/** Null: it is nested too deeply, or becomes too long. */
function read(html, url) {
  // Without a root linkedom makes no body, and what stands behind the end of one is lost.
  const open = html.replace(/<\/(body|html)\s*>/gi, '');
  const { document } = parseHTML(/<html[\s>]/i.test(open.slice(0, 10_000)) ? open : `<html><body>${open}`);
  if (isTooDeep(document)) return null;
  const title = document.querySelector('title')?.textContent ?? '';
  makeAbsolute(document, url);
  const page = pageOf(document);
  const article = isProbablyReaderable(document)
    ? new Readability(document, { serializer: (root) => root, keepClasses: true }).parse()
    : null;
  const root = (article?.content ?? null) || page;
  if (root === null) return { title: shortened(title), text: '' };
  prepare(root, document);
  const text = markdownOf(root);
  return text.length > html.length + GAIN ? null : { title: shortened(article?.title || title), text };
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
