// An element of a page as Markdown.
import TurndownService from 'turndown';
import { addTables } from './tables.mjs';

const service = new TurndownService({
  headingStyle: 'atx',
  hr: '---',
  bulletListMarker: '-',
  codeBlockStyle: 'fenced',
  emDelimiter: '_',
  br: '',
});
// A model reads it, and no program: what stands on the page stands there as it is.
service.escape = (text) => text;
addTables(service);

/** The numbers of the items of a list. */
const numbers = new WeakMap();

function numberOf(item) {
  const list = item.parentNode;
  if (!numbers.has(item)) {
    const start = Number.parseInt(list?.getAttribute?.('start') ?? '', 10);
    let next = Number.isNaN(start) ? 1 : start;
    for (const one of list?.childNodes ?? []) if (one.nodeName === 'LI') numbers.set(one, next++);
  }
  return numbers.get(item) ?? 1;
}

/** Text behind a mark, with its further lines below the first. */
const behind = (mark, content) => `${mark}${content.trim().replace(/\n(?=[^\n])/g, `\n${' '.repeat(mark.length)}`)}\n`;
const inCode = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);
const onOneLine = (node) => node.textContent.replace(/\s+/g, ' ').trim();

service.addRule('struck', { filter: ['del', 's', 'strike'], replacement: (content) => `~~${content}~~` });
service.addRule('label', { filter: 'label', replacement: (content) => `${content} ` });
service.addRule('raised', {
  filter: ['sup', 'sub'],
  replacement: (content, { nodeName }) =>
    /^[-+−]?(\d+|[a-z])$/i.test(content) ? `${nodeName === 'SUP' ? '^' : '_'}${content}` : content,
});
service.addRule('picture', {
  filter: 'img',
  replacement: (_content, node) => {
    const alt = (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim();
    const src = node.getAttribute('src') ?? '';
    return alt === '' || src === '' ? alt : `![${alt}](${src})`;
  },
});
service.addRule('link', {
  filter: (node) => node.nodeName === 'A',
  replacement: (content, node) => {
    const href = node.getAttribute('href') ?? '';
    const text = content.trim().replace(/\s*\n\s*/g, ' ');
    return text === '' || href === '' ? text : `[${text}](${href})`;
  },
});
service.addRule('inline code', {
  filter: (node) => ['CODE', 'TT', 'SAMP'].includes(node.nodeName) && node.parentNode?.nodeName !== 'PRE',
  replacement: (_content, node) => {
    const text = onOneLine(node);
    if (text === '') return '';
    // No link is seen in code: one in it becomes one around it.
    const links = [...node.querySelectorAll('a[href]')];
    return links.length === 1 ? `[${inCode(text)}](${links[0].getAttribute('href')})` : inCode(text);
  },
});
service.addRule('item', {
  filter: 'li',
  replacement: (content, node) => {
    const list = node.parentNode?.nodeName;
    if (list !== 'OL' && list !== 'UL') return `\n\n- ${content.trim()}\n\n`;
    return behind(list === 'OL' ? `${numberOf(node)}. ` : '- ', content);
  },
});
service.addRule('term', {
  filter: 'dt',
  // Documentation made by Sphinx has the signatures of functions in parts.
  replacement: (content, node) =>
    `\n\n${/(^|\s)sig(\s|$)/.test(node.getAttribute('class') ?? '') ? inCode(onOneLine(node)) : content.trim()}\n`,
});
service.addRule('meaning', { filter: 'dd', replacement: (content) => behind(': ', content) });
service.addRule('code', {
  filter: (node) => node.nodeName === 'PRE',
  replacement: (_content, node) => {
    const code = node.textContent.replace(/\n$/, '');
    const fence = code.includes('```') ? '````' : '```';
    return `\n\n${fence}${languageOf(node)}\n${code}\n${fence}\n\n`;
  },
});

/** As the makers of pages say it, each in a way of its own. */
function languageOf(pre) {
  const code = pre.querySelector('code');
  const around = [pre, code, pre.parentNode, pre.parentNode?.parentNode].filter((node) => node?.getAttribute);
  for (const name of ['data-lang', 'data-language', 'lang']) {
    const said = pre.getAttribute(name) ?? code?.getAttribute(name) ?? '';
    if (/^[\w+#-]{1,30}$/.test(said)) return said;
  }
  const named = around.map((node) => node.getAttribute('class') ?? '').join(' ');
  const found = /(?<![\w-])(?:language|lang|highlight-source|brush:?)[-:]?\s*([\w+#-]+)/.exec(named);
  return (found ?? /(?<![\w-])highlight-([\w+#]+)(?=\s+notranslate)/.exec(named))?.[1] ?? '';
}

export function markdownOf(element) {
  // Where a word may be broken says nothing to a reader of text.
  return service
    .turndown(element)
    .replace(/[\u00ad\u200b]/g, '')
    .trim();
}
