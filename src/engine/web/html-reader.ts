// Pages of HTML as models read them (reference §27, docs/decisions/0105).
import { SideThread } from '../../platform/threads/side-thread.js';

interface Question {
  html: string;
  url: string;
  /** Without a look at how it is built. */
  plain: boolean;
}

/** What a page says. */
export interface ReadPage {
  /** Empty: it has none. */
  title: string;
  text: string;
}

const LIMIT_MS = 5_000;
/** Its time grows with the length of the page alone: on two cores under a load of 13, 5 MiB took more than five seconds. */
const PLAIN_MS = 20_000;
const MEMORY_MB = 256;
const thread = new SideThread<Question, ReadPage | null>(new URL('./html.worker.mjs', import.meta.url), 4, MEMORY_MB);

/**
 * The article of a page, else all of it, as Markdown. A page that takes longer or more memory than it may, or that is nested too deeply, comes
 * as its text without tags. Rejects when not even that can be had.
 * @param owner the workspace, as of {@link SideThread}.
 */
export async function readHtml(html: string, url: string, owner: string): Promise<ReadPage> {
  const asked = (plain: boolean, limitMs: number) =>
    thread.ask({ html, url, plain }, { weight: html.length, owner, limitMs });
  const page = await asked(false, LIMIT_MS).catch(() => null);
  const read = page ?? (await asked(true, PLAIN_MS));
  if (read === null) throw new Error('A page without tags is never null.');
  return read;
}
