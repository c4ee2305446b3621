// Pages as they are found: what a model is given of each (reference §27).
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { AuthorityFile, WebHosts } from '../../../../test/harness/web-hosts.js';
import { webContext, webTool } from '../../../../test/harness/web-tool.js';

const FOLDER = fileURLToPath(new URL('../../../../test/fixtures/web/', import.meta.url));
const NAMES = readdirSync(FOLDER).flatMap((name) => /^(.*)\.html$/.exec(name)?.[1] ?? []);
const read = (name: string) => readFileSync(FOLDER + name);
/** Letters of other times as bytes. */
const latin = (text: string) => Buffer.from(text, 'latin1');
const html = (head: string, body: string) =>
  `<!doctype html><html><head>${head}</head><body><p>${body}</p></body></html>`;

const RFC = `Internet Mill Task Force                                      A. Miller
Request for Comments: 9999                                      May 2026

                        The Grinding of Grain

Abstract

   This document says how grain is ground.  The key words "MUST" and
   "MUST NOT" are to be read as in RFC 2119 [RFC2119].

      sack  = 1*GRAIN  ; see <https://www.rfc.example/rfc5234>

Miller                      Standards Track                     [Page 1]
\f
RFC 9999                     Grain                              May 2026
`;
const ATOM = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Mill</title><entry><title>3.2 &amp; more</title><link href="https://mill.example/3.2"/></entry></feed>
`;
const RSS = '<?xml version="1.0"?><rss version="2.0"><channel><item><title>Rye</title></item></channel></rss>';

/** Answers that are no HTML of a file: type, bytes, and the text of the result. */
const OTHERS: Record<string, [type: string, body: Buffer | string, text: string]> = {
  'an RFC as text': ['text/plain; charset=utf-8', RFC, RFC],
  'an answer of an API in JSON': ['application/json', '{"items":[{"n":1},{"n":2}],\n "next":null}', '{"items":[{"n":1},{"n":2}],\n "next":null}'],
  'a problem in JSON': ['application/problem+json', '{"title":"x"}', '{"title":"x"}'],
  'lines of JSON': ['application/x-ndjson', '{"a":1}\n{"a":2}\n', '{"a":1}\n{"a":2}\n'],
  'a feed of Atom': ['application/atom+xml', ATOM, ATOM],
  'a feed of RSS': ['application/rss+xml; charset=utf-8', RSS, RSS],
  'XML, as it says itself': ['text/xml', latin('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe4</a>'), '<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>'],
  'YAML': ['application/yaml', 'wheel:\n  speed: 3\n', 'wheel:\n  speed: 3\n'],
  'TOML': ['application/toml', '[wheel]\nspeed = 3\n', '[wheel]\nspeed = 3\n'],
  'YAML as anything': ['application/octet-stream', 'wheel: 3\n', 'wheel: 3\n'],
  'figures': ['text/csv', 'a,b\n1,"2,3"\n', 'a,b\n1,"2,3"\n'],
  'Markdown, of which nothing is changed': ['text/markdown', '# A <b>b</b>\n\n<!-- c -->\n', '# A <b>b</b>\n\n<!-- c -->\n'],
  'a program': ['text/javascript', 'if (a < b) run("</p>");\n', 'if (a < b) run("</p>");\n'],
  'windows-1252, as the host says': ['text/html; charset=windows-1252', latin(html('', '\x93Gr\xfc\xdfe\x94 f\xfcr 3\x80')), '“Grüße” für 3€'],
  'Shift_JIS, as the page says': ['text/html', Buffer.concat([latin(html('<meta charset="Shift_JIS">', '\x90\x85\x8e\xd4'))]), '水車'],
  'EUC-KR, as the page says in the old way': ['text/html', latin(html('<meta http-equiv="content-type" content="text/html;charset=euc-kr">', '\xb9\xb0')), '물'],
  'GBK': ['text/html; charset=gb2312', latin(html('', '\xcb\xae\xb3\xb5')), '水车'],
  'UTF-16 by its mark': ['text/html', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(html('', 'Räder'), 'utf16le')]), 'Räder'],
  'UTF-8 with a mark, and a wrong word of the host': ['text/html; charset=iso-8859-1', `\ufeff${html('', 'Räder')}`, 'Räder'],
  'bytes that are no characters': ['text/html; charset=utf-8', latin(html('', 'R\xe4der')), 'R\ufffdder'],
  'XHTML by its type': ['application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>a<br/>b</p></body></html>', 'a\nb'],
  'HTML of a host that names no type': ['', '<!DOCTYPE html><p>a <b>b</b>', 'a **b**'],
  'HTML that is to be seen as text': ['text/plain', '<b>b</b>', '<b>b</b>'],
}; // prettier-ignore

describe('A page that web_fetch reads (reference §27)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  const pages = ({ url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    const [, kind = '', name = ''] = decodeURIComponent(url).split('/');
    if (kind === 'large') {
      const body = `<h1>Wheels</h1>${`<p>${'The wheel turns. '.repeat(600)}</p>`.repeat(1_000)}`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      return true;
    }
    const [type, body] =
      kind === 'other' ? (OTHERS[name] ?? ['', '']) : ['text/html; charset=utf-8', read(`${name}.html`)];
    response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
    return true;
  };
  beforeAll(async () => {
    Logger.overrideLogger(false);
    hosts = await WebHosts.start(pages);
  });
  afterAll(async () => {
    await hosts.stop();
    authority.remove();
  });

  const fetched = async (path: string) => {
    const url = `https://allowed.test:${hosts.https}${path}`;
    const tool = webTool(authority, { hosts: [`allowed.test:${hosts.https}`] });
    const outcome = await tool.execute({ url, from: 0 }, webContext());
    return {
      ...(outcome as unknown as { output: { title: string | null; text: string }; forModel: { foreign: string } }),
      url,
    };
  };
  /** The fixtures name a host of their own. */
  const asWritten = (text: string) => text.replaceAll(`https://allowed.test:${hosts.https}`, 'https://mill.example');

  it.each(NAMES)('%s', async (name) => {
    const [title = '', ...text] = read(`${name}.md`).toString().trimEnd().split('\n');
    const { output, forModel } = await fetched(`/docs/${name}`);
    expect(asWritten(output.text)).toBe(text.join('\n').trim());
    expect(output.title ?? '(no title)').toBe(title);
    expect(forModel.foreign.includes('It has no text: what scripts make of a page is not there.')).toBe(output.text === ''); // prettier-ignore
  });

  it.each(Object.keys(OTHERS))('%s', async (what) => {
    const { output } = await fetched(`/other/${encodeURIComponent(what)}`);
    expect(output.text).toBe(OTHERS[what]?.[2]);
  });

  it('of 10 MB is read as far as maxBytes, in the time of the thread', async () => {
    const began = performance.now();
    const { output, forModel } = await fetched('/large/page');
    // With what is kept of it as an article, without, or as bare text: how far the thread comes in its time.
    expect(output.text).toMatch(/^(#{1,2} )?Wheels\s+The wheel turns/);
    expect(forModel.foreign).toContain('The host has more: reading stopped after 5242880 bytes.');
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('is of forty kinds and more', () => {
    expect(NAMES.length + Object.keys(OTHERS).length).toBeGreaterThan(50);
  });
});
