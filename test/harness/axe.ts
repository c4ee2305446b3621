// axe (WCAG 2.2, levels A and AA), which looks at a page in the browser.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { LONG } from './numbers.js';
import { drawn, type WalkBrowser } from './walks.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
/** Of the second theme, which differs by its colours alone, the rules about colours. */
const RULES = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  dark: ['color-contrast', 'link-in-text-block'],
};

/** What is scrolled away is not drawn, and what fades in is pale for a moment: axe would look at that. */
const DRAW_ALL = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { content-visibility: visible !important; transition: none !important; animation: none !important }');
  document.adoptedStyleSheets = [sheet];
}`;

interface Found {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Before a page is looked at, and again after it was loaded anew. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
  await page.evaluate(DRAW_ALL);
}

/** What axe finds wrong on the page as it is, at each width. `seen` is told of each width. */
export async function violations(
  page: Page,
  name: string,
  theme: Theme,
  widths: readonly number[],
  seen: (width: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const said: string[] = [];
  const options = JSON.stringify({ runOnly: RULES[theme], resultTypes: ['violations'] });
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))');
    const found = await page.evaluate<Found[]>(`axe.run(${options}).then(({ violations }) => violations)`);
    for (const { id, nodes } of found) {
      said.push(`${name} ${width} ${theme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
    }
    await seen(width);
  }
  return said;
}

/** What differs in the dark is known of each page by `accessibility.spec`. */
const LIGHT = ['light'] as const;

/** Nothing is wrong in any of these states of a page, in the light theme (in the long form in both), on a desk and on a phone; nor is it wider than a phone. */
export async function looksWell(
  browser: WalkBrowser,
  { url, secret, path }: { url: string; secret: string; path: string },
  states: Record<string, (page: Page) => Promise<unknown>>,
): Promise<void> {
  for (const theme of LONG ? THEMES : LIGHT) {
    const { page } = await browser.signedIn(url, secret, path, { theme });
    const found: string[] = [];
    for (const [name, reach] of Object.entries(states)) {
      await page.goto(path);
      await drawn(page);
      await reach(page);
      await bringAxe(page);
      found.push(...(await violations(page, name, theme, [1440, 390])));
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (wide > 0) found.push(`${name} ${theme}: ${wide} pixels wider than a phone`);
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    expect(found).toEqual([]);
  }
}
