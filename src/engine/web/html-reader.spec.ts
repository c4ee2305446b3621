import { readHtml } from './html-reader.js';

const SENTENCE = 'The mill stands at the river, and its wheel turns day and night while the water is high. ';
const PARAGRAPH = `<p>${SENTENCE.repeat(4)}</p>`;
const SAID = SENTENCE.repeat(4).trim();
const read = (html: string) => readHtml(html, 'https://mill.example/docs/page', 'owner');
const page = (body: string, title = 'The mill') =>
  `<!doctype html><html><head><title>${title}</title><style>p{}</style></head><body>${body}</body></html>`;

describe('A page of HTML, as a model reads it (reference §27)', () => {
  it.each<[string, string, { title: string; text: string }]>([
    [
      'an article without the menu, the foot and the scripts of its page',
      page(
        `<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Shop</a></li></ul></nav><article><h1>Wheels</h1>${PARAGRAPH}<h2>Water</h2>${PARAGRAPH}</article><footer>© Mill</footer><script>run()</script>`,
      ),
      { title: 'The mill', text: `## Wheels\n\n${SAID}\n\n## Water\n\n${SAID}` },
    ],
    [
      'a page that is no article as a whole',
      page('<h1>Index</h1><ul><li><a href="one">One</a></li><li><a href="/two">Two</a></li></ul>'),
      {
        title: 'The mill',
        text: '# Index\n\n- [One](https://mill.example/docs/one)\n- [Two](https://mill.example/two)',
      },
    ],
    ['a piece of HTML without a root', '<p>hi <b>there</b></p>', { title: '', text: 'hi **there**' }],
    [
      'a table',
      page('<table><thead><tr><th>Name</th><th>Size</th></tr></thead><tbody><tr><td>a|b</td><td><p>1</p><p>2</p></td></tr></tbody></table>'), // prettier-ignore
      { title: 'The mill', text: '| Name | Size |\n| --- | --- |\n| a\\|b | 1 2 |' },
    ],
    [
      'a table without a head, whose first row becomes one',
      page('<table><tr><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr></table>'),
      { title: 'The mill', text: '| x | 1 |\n| --- | --- |\n| y | 2 |' },
    ],
    [
      'a table that only arranges the page, as blocks',
      page('<table><tr><td><h2>Left</h2></td><td><table><tr><td>in</td><td>side</td></tr></table></td></tr></table>'),
      { title: 'The mill', text: '## Left\n\n| in | side |\n| --- | --- |' },
    ],
    [
      'code as it is, with its language and its empty lines',
      page('<pre><code class="language-js">const a = "*_x_*";\n\n\n  run(a &lt; 1);\n</code></pre>'),
      { title: 'The mill', text: '```js\nconst a = "*_x_*";\n\n\n  run(a < 1);\n```' },
    ],
    [
      'code that has a fence itself',
      page('<pre>```\nx\n```</pre>'),
      { title: 'The mill', text: '````\n```\nx\n```\n````' },
    ],
    [
      'lists in lists, and numbers that begin later',
      page('<ol start="3"><li>three<ul><li>in it</li></ul></li><li>four</li></ol>'),
      { title: 'The mill', text: '3. three\n   - in it\n4. four' },
    ],
    [
      'signs of Markdown as they stand on the page',
      page('<p>snake_case *star* [x] 1. #no</p>'),
      { title: 'The mill', text: 'snake_case *star* [x] 1. #no' },
    ],
    [
      'nothing that the page hides, and no fields of forms',
      page(
        '<p>Shown</p><p hidden>one</p><p style="color:red; display : none">two</p><p aria-hidden="true">three</p><template><p>four</p></template><form><button>five</button><select><option>six</option></select></form><noscript>seven</noscript>',
      ),
      { title: 'The mill', text: 'Shown' },
    ],
    [
      'pictures by what is said of them, and no bytes of theirs',
      page(
        '<p><img src="w.png" alt="A wheel"><img src="track.gif"><img alt="Inline" src="data:image/png;base64,AAAA"></p>',
      ),
      { title: 'The mill', text: '![A wheel](https://mill.example/docs/w.png)Inline' },
    ],
    [
      'links by the base of the page, and none that run something',
      page(
        '<base href="https://cdn.example/x/"><a href="y">Y</a> <a href="javascript:go()">go</a> <a href="#top"></a>',
      ),
      { title: 'The mill', text: '[Y](https://cdn.example/x/y) go' },
    ],
    [
      'a title with entities and line ends',
      page('<p>x</p>', 'Wheels &amp;\n  water'),
      { title: 'Wheels & water', text: 'x' },
    ],
    ['a page that scripts make, which has no text', page('<div id="root"></div><script src="a.js"></script>'), { title: 'The mill', text: '' }], // prettier-ignore
    [
      'tags that are not closed, and closed ones that were not open',
      page('<div><p>one<p>two</b></section><li>three'),
      { title: 'The mill', text: 'one\n\ntwo\n\n- three' },
    ],
  ])('is %s', async (_what, html, expected) => {
    expect(await read(html)).toEqual(expected);
  });

  it('is its text without tags when its elements are nested too deeply, and others are not kept waiting', async () => {
    await read('<p>The thread is there.');
    const before = process.cpuUsage();
    const deep = await read(`<title>Deep</title>${'<div>'.repeat(6_000)}in <b>it</b> &amp; more<p>again`);
    expect(deep).toEqual({ title: 'Deep', text: 'in it & more\nagain' });
    // Readability would take it for an article, and many seconds to read it.
    const article = await read(`${'<div>'.repeat(2_500)}${PARAGRAPH.repeat(6)}`);
    expect(article.text).toBe(Array(6).fill(SAID).join('\n'));
    // Its threads are of this process: what others take of the machine does not count.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(4.5);
  });

  it('is its text without tags when reading it takes longer than five seconds or more memory than there is', async () => {
    // 5 MiB: no page is longer.
    const cells = '<tr><td>a</td><td>b</td></tr>'.repeat(180_000);
    const { text } = await read(`<title>Large</title><table>${cells}</table>`);
    expect(text.startsWith('a\nb\na\nb')).toBe(true);
    expect(text).toHaveLength(4 * 180_000 - 1);
  });

  it.each([
    [
      'a long base for many links',
      `<base href="https://a.example/${'a'.repeat(1_900)}/">${'<a href=b>x</a> '.repeat(2_000)}`,
      /^(x ){1999}x$/,
    ],
    [
      'cells over many rows and columns',
      `<table>${'<tr>'.concat('<td colspan=999 rowspan=999>x'.repeat(1_000), '<tr><td>y'.repeat(40)).repeat(3)}</table>`,
      /x/,
    ],
  ])(
    'of %s is never much longer than the page',
    async (_what, html, expected) => {
      const { text } = await read(html);
      expect(text).toMatch(expected);
      expect(text.length).toBeLessThan(html.length + 1_000_001);
    },
    30_000,
  );

  it.each([
    ['scripts without an end', '<script>'.repeat(400_000), ''],
    ['signs that open nothing', '< '.repeat(1_500_000), /^[< ]+$/],
    ['comments without an end', '<!--'.repeat(500_000), ''],
  ])(
    'of 3 MB of %s takes no longer than the limit',
    async (_what, html, expected) => {
      const { text } = await read(html);
      expect(text).toMatch(expected);
    },
    30_000,
  );
});
