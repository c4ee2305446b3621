// The pages of the console that list and hand out tasks, as those who walk through them find their way.
import type { Page } from 'playwright-core';
import { until } from './until.js';
import { reachesPath } from './walks.js';

/** The rows of the list, from the top: the link of each. */
export const rows = (page: Page) => page.locator('#main [data-row]');
const titles = async (page: Page) => (await rows(page).allTextContents()).map((text) => text.replace(/^[^:]+: /, ''));
/** Waits until the list shows these titles and no others. */
export const shows = (page: Page, ...expected: string[]) =>
  until(`the list to be ${expected.join(', ')}`, async () => String(await titles(page)) === String(expected));
/** The id in the address of a task's page. */
export const taskIn = async (page: Page) => {
  await reachesPath(page, /^\/console\/tasks\/[0-9a-f-]{36}$/);
  return page.url().split('/').at(-1) ?? '';
};
/** What is to be done, in the form of a new task. */
export const content = (page: Page) => page.getByLabel('What is to be done');
export const start = (page: Page) => page.getByRole('button', { name: /^Start the task/ });
