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

export function useFollowedEnd(): FollowedEnd {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const held = useRef<{ element: Element; top: number } | null>(null);
  const [away, setAway] = useState(false);

  const scroll = useCallback((behavior: ScrollBehavior) => {
    box.current?.scrollTo({ top: box.current.scrollHeight, behavior });
  }, []);

  useEffect(() => {
    const element = box.current;
    const content = inner.current;
    if (element === null || content === null) return;
    let last = element.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
      // What becomes shorter moves the position up as well, but then to its end.
      if (scrollTop < last - 2 && !atEnd) follows.current = false;
      if (atEnd) follows.current = true;
      last = scrollTop;
      setAway(!atEnd && !follows.current);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    const observer = new ResizeObserver(() => {
      if (follows.current) scroll('instant');
      else if (held.current !== null) {
        const { element: kept, top } = held.current;
        element.scrollTop += kept.getBoundingClientRect().top - top;
      }
    });
    const onInput = () => {
      held.current = null;
    };
    for (const type of INPUTS) element.addEventListener(type, onInput, { passive: true });
    observer.observe(content);
    observer.observe(element);
    scroll('instant');
    return () => {
      element.removeEventListener('scroll', onScroll);
      for (const type of INPUTS) element.removeEventListener(type, onInput);
      observer.disconnect();
    };
  }, [scroll]);

  const toEnd = (smooth = false) => {
    follows.current = true;
    held.current = null;
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
    held.current = element ? { element, top: element.getBoundingClientRect().top } : null;
  };
  return { box, inner, away, toEnd, release, hold };
}
