// Tables of a page as rows of Markdown, or as blocks where a table only arranges the page.

const cellsOf = (row) => [...row.childNodes].filter(({ nodeName }) => nodeName === 'TD' || nodeName === 'TH');
/** What no cell of Markdown can hold. */
const BLOCKS = 'table, pre, h1, h2, h3, hr';
/** Cells that one stands for: a page must not become many times as long. */
const WIDEST = 50;

/** What is found out once of each table. */
const tables = new WeakMap();

/** `arranges`: it has no rows and columns of its own; `columns`; `first`: its first row; `spare`: empty cells before a cell. A row may be shorter than the first one. */
function tableOf(node) {
  let at = node;
  while (at !== null && at.nodeName !== 'TABLE') at = at.parentNode;
  if (at === null) return { arranges: true };
  let known = tables.get(at);
  if (known === undefined) tables.set(at, (known = described(at)));
  return known;
}

function described(table) {
  const rows = [...table.querySelectorAll('tr')].filter((row) => cellsOf(row).length > 0);
  const isPlain = table.getAttribute('role') !== 'presentation' && table.querySelector(BLOCKS) === null;
  if (!isPlain || rows.every((row) => cellsOf(row).length < 2)) return { arranges: true };
  const spare = new Map();
  let columns = 0;
  /** Of each column, in how many further rows a cell from above stands. */
  const below = [];
  for (const row of rows) {
    let column = 0;
    for (const cell of cellsOf(row)) {
      const begin = column;
      for (; below[column] > 0; column++) below[column]--;
      if (column > begin) spare.set(cell, column - begin);
      const [width, height] = [spanOf(cell, 'colspan'), spanOf(cell, 'rowspan')];
      for (let n = 0; n < width; n++) below[column++] = height - 1;
    }
    if (row === rows[0]) columns = column;
    for (; column < below.length; column++) if (below[column] > 0) below[column]--;
  }
  return { arranges: false, columns, first: rows[0], spare };
}

function spanOf(cell, name) {
  const span = Number.parseInt(cell.getAttribute(name) ?? '', 10);
  return span > 1 ? Math.min(span, WIDEST) : 1;
}

export function addTables(service) {
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content, node) => {
      const { arranges, spare } = tableOf(node);
      if (arranges) return `\n\n${content.trim()}\n\n`;
      const text = content
        .trim()
        .replace(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|');
      return `${'| '.repeat(spare.get(node) ?? 0)}| ${text} ${'| '.repeat(spanOf(node, 'colspan') - 1)}`;
    },
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const { arranges, columns, first } = tableOf(node);
      if (arranges) return content;
      if (cellsOf(node).length === 0) return '';
      const line = `${content.trim()} |\n`;
      return node === first ? `${line}${'| --- '.repeat(columns)}|\n` : line;
    },
  });
  service.addRule('section', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  service.addRule('caption', { filter: 'caption', replacement: (content) => `${content.trim()}\n\n` });
}
