// What a person sees of a conversation, frame by frame: whether it stands at its end, and how much of it is drawn.
import type { Page } from 'playwright-core';

interface Frame {
  /** From the end of what is in sight to the end of the conversation, in pixels. */
  gap: number;
  /** How much of the box has something drawn in it, from 0 to 1. */
  drawn: number;
  /** Sentences of which the conversation has more than one. */
  twice: string[];
}

/** Farther away than this, the end is lost. */
const NEAR_PX = 2;
/** A conversation is paragraphs with room between them. With less than this, most of the box is blank. */
const DRAWN = 0.6;

/**
 * Records each frame of the conversation from now on, as it is painted: an observer of sizes is called after the page's own
 * observers, which were there before, and before the painting. `once`: what no frame may show twice.
 */
export async function recordFrames(page: Page, once: RegExp): Promise<void> {
  await page.getByRole('region', { name: 'Conversation' }).waitFor();
  await page.evaluate(`(() => {
    const once = ${String(once)};
    window.frames = [];
    const pulse = document.body.appendChild(document.createElement('div'));
    pulse.style.cssText = 'position: fixed; height: 0; width: 1px';
    const look = () => {
      const box = document.querySelector('[role=region][aria-label=Conversation]');
      if (box === null || box.scrollHeight <= box.clientHeight) return;
      const { top, bottom } = box.getBoundingClientRect();
      let drawn = 0;
      for (const block of box.firstElementChild.children) {
        const rect = block.getBoundingClientRect();
        if (rect.bottom <= top || rect.top >= bottom) continue;
        const inside = block.firstElementChild ?? block;
        if (!inside.checkVisibility({ contentVisibilityAuto: true })) continue;
        drawn += Math.min(rect.bottom, bottom) - Math.max(rect.top, top);
      }
      const said = box.innerText.match(once) ?? [];
      window.frames.push({
        gap: box.scrollHeight - box.clientHeight - box.scrollTop,
        drawn: drawn / (bottom - top),
        twice: said.filter((text, at) => said.indexOf(text) !== at),
      });
    };
    new ResizeObserver(look).observe(pulse);
    const tick = () => {
      pulse.style.width = pulse.style.width === '1px' ? '2px' : '1px';
      requestAnimationFrame(tick);
    };
    tick();
  })()`);
}

/** The frames since the last call: how many, and those that are wrong. */
export async function framesOf(
  page: Page,
): Promise<{ frames: number; lost: Frame[]; blank: Frame[]; doubled: Frame[] }> {
  const frames = await page.evaluate<Frame[]>('window.frames.splice(0)');
  return {
    frames: frames.length,
    lost: frames.filter(({ gap }) => gap > NEAR_PX),
    blank: frames.filter(({ drawn }) => drawn < DRAWN),
    doubled: frames.filter(({ twice }) => twice.length > 0),
  };
}
