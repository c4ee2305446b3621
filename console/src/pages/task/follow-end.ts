// A box that stays at its end while more comes. Only a person scrolls up, and only that releases the end.
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

const NEAR = 48;

interface FollowedEnd {
  box: RefObject<HTMLDivElement | null>;
  inner: RefObject<HTMLDivElement | null>;
  /** Whether the end is out of sight. */
  away: boolean;
  toEnd: (smooth?: boolean) => void;
  release: () => void;
  /** Keeps what is read where it is while more comes above it, and while that finds its height; until one scrolls. */
  hold: () => void;
}

/** What a person scrolls with. */
const INPUTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
/** A person has stopped scrolling when none of it came for so long, in milliseconds. */
const PAUSE_MS = 300;

/** Keys that scroll up a box that has the focus. */
const UPWARD = ['ArrowUp', 'PageUp', 'Home'];
const leadsUp = (event: Event): boolean =>
  (event instanceof WheelEvent && event.deltaY < 0) ||
  (event instanceof KeyboardEvent && (UPWARD.includes(event.key) || (event.key === ' ' && event.shiftKey)));

export function useFollowedEnd(): FollowedEnd {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const anchor = useRef<{ element: Element; top: number } | null>(null);
  const [away, setAway] = useState(false);

  const scroll = useCallback((behavior: ScrollBehavior) => {
    box.current?.scrollTo({ top: box.current.scrollHeight, behavior });
  }, []);

  useEffect(() => {
    const element = box.current;
    const content = inner.current;
    if (element === null || content === null) return;
    // The last measurement: the position, and the lowest one possible. `drawn`: whether anything was drawn since.
    let last = { top: 0, end: 0 };
    let drawn = false;
    const measure = () => {
      drawn = false;
      last = { top: element.scrollTop, end: element.scrollHeight - element.clientHeight };
      return last;
    };
    let input = -Infinity;
    const stick = () => {
      scroll('instant');
      measure();
    };
    const onScroll = () => {
      const [before, wasDrawn] = [last, drawn];
      const { top, end } = measure();
      const atEnd = end - top < NEAR;
      if (top < before.top - 2) {
        // What becomes shorter moves the position up as well, and may be longer again by now. Where nothing was drawn, or a person
        // did something, somebody moved it: the bar at the side, a selection, the browser's search.
        if (follows.current && !atEnd) {
          if (wasDrawn && performance.now() - input > PAUSE_MS) stick();
          else follows.current = false;
        }
      } else if (top > before.top && atEnd) follows.current = true;
      setAway(!follows.current && last.end - last.top >= NEAR);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    const observer = new ResizeObserver(() => {
      // Who has stopped near the end is meant to be at it.
      if (last.end - last.top < NEAR && performance.now() - input > PAUSE_MS) follows.current = true;
      if (follows.current) scroll('instant');
      else if (anchor.current !== null) {
        const { element: kept, top } = anchor.current;
        element.scrollTop += kept.getBoundingClientRect().top - top;
      }
      measure();
      setAway(!follows.current && last.end - last.top >= NEAR);
    });
    const onInput = (event: Event) => {
      anchor.current = null;
      input = performance.now();
      // At once: what comes in the same moment must not pull them back.
      if (leadsUp(event) && element.scrollTop > 0) follows.current = false;
    };
    for (const type of INPUTS) element.addEventListener(type, onInput, { passive: true });
    observer.observe(content);
    observer.observe(element);
    const drawing = new MutationObserver(() => {
      drawn = true;
    });
    drawing.observe(content, { subtree: true, childList: true, characterData: true });
    stick();
    return () => {
      element.removeEventListener('scroll', onScroll);
      for (const type of INPUTS) element.removeEventListener(type, onInput);
      observer.disconnect();
      drawing.disconnect();
    };
  }, [scroll]);

  const toEnd = (smooth = false) => {
    follows.current = true;
    anchor.current = null;
    setAway(false);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    scroll(smooth && !still ? 'smooth' : 'instant');
  };
  const release = () => {
    follows.current = false;
  };
  const hold = () => {
    // The first is the button that asks for more.
    const element = inner.current?.children[1];
    follows.current = false;
    anchor.current = element ? { element, top: element.getBoundingClientRect().top } : null;
  };
  return { box, inner, away, toEnd, release, hold };
}
