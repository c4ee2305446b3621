import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { useService } from '../harness/app.js';
import { bootWorld, makeWorld, type World } from '../harness/console-world.js';
import { describeInBrowser, drawn, useBrowser } from '../harness/walks.js';

const KIB = 1024;
const BUILT = 'dist-console';

/** The same as a person's browser loads with nothing kept: by path, and what is drawn when all of it has come. */
const PAGES: Record<string, (world: World) => { path: string; there: string }> = {
  'the log-in page': () => ({ path: '/console/', there: 'form' }),
  'the list of tasks': () => ({ path: '/console/tasks', there: '[data-row]' }),
  // Colours come last.
  'a task with changes': ({ tasks }) => ({
    path: `/console/tasks/${tasks.done}?tab=changes`,
    there: '[class*="h-keyword"]',
  }),
};

describe('the built console', () => {
  it('has at most 240 KiB of JavaScript and CSS, by gzip', () => {
    const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' });
    const code = files.filter((name) => ['.js', '.css'].includes(extname(name)));
    const sizes = code.map((name) => gzipSync(readFileSync(join(BUILT, name)), { level: 9 }).length);
    expect(code.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(240 * KIB);
  });
});

describeInBrowser('the console, loaded for the first time', () => {
  const service = useService(bootWorld);
  const browser = useBrowser();
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(service);
  }, 90_000);
  afterAll(() => world.close());

  it('takes at most 280 KiB over the wire, from the service alone', async () => {
    const { context } = await browser.signedIn(service.url, world.owner.key.secret);
    const storageState = await context.storageState();
    const loads = Object.entries(PAGES).map(async ([name, page]) => {
      const { path, there } = page(world);
      const signedIn = name !== 'the log-in page';
      // A window of its own: nothing is kept from another.
      const fresh = await browser.open(service.url, {}, signedIn ? { storageState } : {});
      const wire = await fresh.context.newCDPSession(fresh.page);
      await wire.send('Network.enable');
      // Files and answers of the API, each once: a page that takes long to come asks some of them again. The stream of events
      // goes on, and is not counted.
      const urls = new Map<string, string>();
      const sizes = new Map<string, number>();
      wire.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
      wire.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
        sizes.set(urls.get(requestId) ?? requestId, encodedDataLength),
      );
      await fresh.page.goto(path);
      await drawn(fresh.page);
      await fresh.page.locator(there).first().waitFor();
      await fresh.page.evaluate('document.fonts.ready.then(() => null)');
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      return [name, Math.round(bytes / KIB)] as const;
    });
    const pages = await Promise.all(loads);
    // Fewer would mean that nothing was counted.
    expect(pages.filter(([, kib]) => kib > 280 || kib < 50)).toEqual([]);
  });
});
