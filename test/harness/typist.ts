// Somebody who goes on writing, whatever happens on the page.
import type { Page } from 'playwright-core';

/** Ordinary words, with every key that is a shortcut somewhere. */
const WORDS = ['Add 1 card, ', 'ask 2 jacks\n', 'to go; 3? /x\\ ', '[e] k, r d a ', 'and deal. '];

/**
 * Types into whatever has the focus while `during` goes on, and some words more. What was typed: if it does not stand in the box, it
 * went elsewhere.
 */
export async function typesOn(page: Page, during: () => Promise<unknown>): Promise<string> {
  let typed = '';
  let over = false;
  const type = async (words: string) => {
    await page.keyboard.type(words);
    typed += words;
  };
  const happening = during().finally(() => (over = true));
  // What fails is told at its end.
  happening.catch(() => undefined);
  for (let at = 0; !over; at++) await type(WORDS[at % WORDS.length] ?? '');
  await happening;
  for (const words of WORDS) await type(words);
  return typed;
}

/** What has the focus, by its label. */
export const focused = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")');
