// A real browser that looks at the console of a real service.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { until } from './until.js';

const PROGRAM = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find(isExecutable);

/** A block of walks; skipped where there is no browser. `.ci/run` installs one. */
export const describeInBrowser: typeof describe.skip = PROGRAM === undefined ? describe.skip : describe;

/** One window, with cookies and storage of its own; its tabs are pages. */
export interface Window {
  context: BrowserContext;
  page: Page;
}

export interface Screen {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
}

/**
 * One browser for the tests of the block. After each test nothing may have gone wrong in any of its pages: no error in the console, no
 * fault of a script, no request to another origin, no violation of the policy. What a test brings about itself, such as an answer
 * 401, it names with {@link WalkBrowser.allow}.
 */
export function useBrowser(): WalkBrowser {
  const browser = new WalkBrowser();
  beforeAll(() => browser.launch(), 60_000);
  afterEach(() => browser.closeWindows());
  afterAll(() => browser.close());
  return browser;
}

export class WalkBrowser {
  private browser: Browser | null = null;
  private readonly windows = new Set<BrowserContext>();
  private wrong: string[] = [];
  private allowed: RegExp[] = [];

  async launch(): Promise<void> {
    // A user without rights has no sandbox for it in many containers; what it shows is our own service.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
    this.browser = await chromium.launch({ executablePath: PROGRAM ?? '', args });
  }

  /** A new window that looks at a service. */
  async open(url: string, screen: Screen = {}, options: BrowserContextOptions = {}): Promise<Window> {
    if (this.browser === null) throw new Error('The browser is not launched yet.');
    const { width = 1440, height = 900, theme = 'light' } = screen;
    const context = await this.browser.newContext({
      baseURL: url,
      viewport: { width, height },
      colorScheme: theme,
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(20_000);
    this.windows.add(context);
    context.on('page', (page) => this.watch(page, url));
    return { context, page: await context.newPage() };
  }

  /** A new window in which a person has signed in. */
  async signedIn(url: string, secret: string, path?: string, screen?: Screen): Promise<Window> {
    const window = await this.open(url, screen);
    await this.signIn(window.page, secret, path);
    return window;
  }

  /** Signs in as a person does, with a key. */
  async signIn(page: Page, secret: string, path = '/console/'): Promise<void> {
    // The page asks once who it is, before anybody is signed in.
    this.allow(/status of 401 .*\/v1\/auth\/context$/);
    await page.goto(path);
    await page.getByLabel('Key', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('navigation', { name: 'Console' })
      .or(page.getByRole('button', { name: 'Menu' }))
      .first()
      .waitFor();
  }

  /** Nothing is wrong about what matches, in this test. */
  allow(...patterns: RegExp[]): void {
    this.allowed.push(...patterns);
  }

  /** After each test. */
  async closeWindows(): Promise<void> {
    const contexts = [...this.windows];
    this.windows.clear();
    await Promise.all(contexts.map((context) => context.close()));
    const wrong = this.wrong.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
    this.wrong = [];
    this.allowed = [];
    expect(wrong).toEqual([]);
  }

  async close(): Promise<void> {
    await this.browser?.close();
  }

  private watch(page: Page, url: string): void {
    page.on('pageerror', (error) => this.wrong.push(`fault: ${error.message}`));
    page.on('console', (message) => {
      // A violation of the policy is told here too.
      if (message.type() === 'error' || message.type() === 'warning')
        this.wrong.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== new URL(url).origin && !['data:', 'blob:'].includes(protocol))
        this.wrong.push(`foreign: ${request.url()}`);
    });
  }
}

/** Waits until the page is there, and nothing of it is still being read. */
export async function drawn(page: Page): Promise<void> {
  const shows = `document.querySelector('main')?.innerText.trim().length > 0`;
  await until('the page to be drawn', () =>
    page.evaluate<boolean>(`${shows} && !document.querySelector('[class*="skeleton"], main [aria-busy="true"]')`),
  );
}

/** Whether all of a box stands in the window. `isVisible()` also says so of what is clipped. */
export async function isInViewport(page: Page, selector: ReturnType<Page['locator']>): Promise<boolean> {
  const box = await selector.boundingBox();
  const size = page.viewportSize();
  if (box === null || size === null) return false;
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= size.width && box.y + box.height <= size.height;
}

/** Waits until the address has this path and query. */
export async function reachesPath(page: Page, pattern: RegExp): Promise<void> {
  const at = () => new URL(page.url());
  await until(`the address to match ${String(pattern)}`, () => pattern.test(at().pathname + at().search));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
