import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { useService } from '../harness/app.js';
import { bootWorld, makeWorld, type World } from '../harness/console-world.js';
import { describeInBrowser, drawn, useBrowser } from '../harness/walks.js';

const KIB = 1024;
const BUILT = 'dist-console';

const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);
/** Bytes of a file of the console. */
const gzipped = (url: string) =>
  gzipSync(readFileSync(join(BUILT, new URL(url).pathname.replace(/^\/console\//, ''))), { level: 9 }).length;

/** The same as a person's browser loads with nothing kept: by path, and what is drawn when all of it has come. */
const PAGES: Record<string, (world: World) => { path: string; there: string }> = {
  'the log-in page': () => ({ path: '/console/', there: 'form' }),
  'the list of tasks': () => ({ path: '/console/tasks', there: '[data-row]' }),
  'the conversation of a task': ({ tasks }) => ({ path: `/console/tasks/${tasks.done}`, there: '[data-step]' }),
  // Colours come last.
  'a task with changes': ({ tasks }) => ({
    path: `/console/tasks/${tasks.done}?tab=changes`,
    there: '[class*="h-keyword"]',
  }),
};

describeInBrowser('the console, loaded for the first time', () => {
  const service = useService(bootWorld);
  const browser = useBrowser();
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(service);
  });
  afterAll(() => world.close());

  it('takes at most 280 KiB over the wire, and of them 240 KiB of JavaScript and CSS by gzip', async () => {
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
      const bytes = sum([...sizes.values()]);
      const code = [...urls.values()].filter((url) => /\.(js|css)$/.test(url));
      return [name, Math.round(bytes / KIB), Math.round(sum(code.map(gzipped)) / KIB)] as const;
    });
    const pages = await Promise.all(loads);
    // Fewer would mean that nothing was counted.
    expect(pages.filter(([, all, code]) => all > 280 || code > 240 || code < 50)).toEqual([]);
  });
});
