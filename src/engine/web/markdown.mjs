// An element of a page as Markdown.
import TurndownService from 'turndown';

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

const cellsOf = (row) => [...row.childNodes].filter(({ nodeName }) => nodeName === 'TD' || nodeName === 'TH');

/** What is found out once of each table: whether it only arranges what is on the page, and its first row. */
const tables = new WeakMap();

function tableOf(node) {
  let at = node;
  while (at !== null && at.nodeName !== 'TABLE') at = at.parentNode;
  if (at === null) return { arranges: true, first: null };
  let known = tables.get(at);
  if (known === undefined) {
    const rows = [...at.querySelectorAll('tr')].filter((row) => cellsOf(row).length > 0);
    const isPlain = at.getAttribute('role') !== 'presentation' && at.querySelector('table') === null;
    tables.set(at, (known = { arranges: !isPlain || rows.every((row) => cellsOf(row).length < 2), first: rows[0] }));
  }
  return known;
}

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

service.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content, node) =>
    tableOf(node).arranges
      ? `\n\n${content.trim()}\n\n`
      : `| ${content
          .trim()
          .replace(/\s*\n\s*/g, ' ')
          .replaceAll('|', '\\|')} `,
});
service.addRule('row', {
  filter: 'tr',
  replacement: (content, node) => {
    const { arranges, first } = tableOf(node);
    if (arranges) return content;
    const cells = cellsOf(node).length;
    if (cells === 0) return '';
    return `${content.trim()} |\n${node === first ? `${'| --- '.repeat(cells)}|\n` : ''}`;
  },
});
service.addRule('section', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
service.addRule('caption', { filter: 'caption', replacement: (content) => `${content.trim()}\n\n` });
service.addRule('struck', { filter: ['del', 's', 'strike'], replacement: (content) => `~~${content}~~` });
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
service.addRule('item', {
  filter: 'li',
  replacement: (content, node) => {
    const list = node.parentNode?.nodeName;
    if (list !== 'OL' && list !== 'UL') return `\n\n- ${content.trim()}\n\n`;
    const mark = list === 'OL' ? `${numberOf(node)}. ` : '- ';
    return `${mark}${content.trim().replace(/\n(?=[^\n])/g, `\n${' '.repeat(mark.length)}`)}\n`;
  },
});
service.addRule('code', {
  filter: (node) => node.nodeName === 'PRE',
  replacement: (_content, node) => {
    const code = node.textContent.replace(/\n$/, '');
    const named = `${node.getAttribute('class') ?? ''} ${node.querySelector('code')?.getAttribute('class') ?? ''} ${node.parentNode?.getAttribute?.('class') ?? ''}`;
    const language = /(?:language|lang|highlight-source|brush:?)[-:]?\s*([\w+#-]+)/.exec(named)?.[1] ?? '';
    const fence = code.includes('```') ? '````' : '```';
    return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
  },
});

export function markdownOf(element) {
  return service.turndown(element).trim();
}
