// How what has an effect is pressed: by a click, or by Ctrl-Enter on a button that has the focus; never by a letter alone, and never
// by what was meant for something else.
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';

/** A click or key that was meant for what stood here before does nothing, for so long after the buttons came into view. */
const SETTLE_MS = 600;

/**
 * Whether the button with this `ref`, and those beside it, take input: it has been in view for a moment, as it is for `what`. Anew each
 * time that `what` changes, and each time that it comes into view.
 */
export function useSettled(what: unknown): [button: RefObject<HTMLButtonElement | null>, settled: boolean] {
  const button = useRef<HTMLButtonElement>(null);
  const [seen, setSeen] = useState<{ what: unknown } | null>(null);
  useEffect(() => {
    const element = button.current;
    if (element === null) return;
    let timer = 0;
    const observer = new IntersectionObserver(
      ([entry]) => {
        clearTimeout(timer);
        setSeen(null);
        if ((entry?.intersectionRatio ?? 0) > 0.9) timer = window.setTimeout(() => setSeen({ what }), SETTLE_MS);
      },
      { threshold: 0.95 },
    );
    observer.observe(element);
    return () => (clearTimeout(timer), observer.disconnect());
  }, [what]);
  return [button, seen !== null && seen.what === what];
}

/** Ctrl-Enter presses the button that has the focus. Browsers do so for Enter alone. */
export function pressed(event: KeyboardEvent): void {
  if (!(event.ctrlKey || event.metaKey) || event.key !== 'Enter' || event.defaultPrevented) return;
  const button = (event.target as HTMLElement).closest('button');
  if (button === null) return;
  event.preventDefault();
  button.click();
}

/**
 * Reports whether somebody writes in a box: it has the focus, or something is `said` in it. The result is for the box. `onWriting` is null once
 * what is written there is sent.
 */
export function useWriting(onWriting: ((writes: boolean) => void) | null, said: boolean) {
  const [focus, setFocus] = useState(false);
  const writes = focus || said;
  useEffect(() => {
    onWriting?.(writes);
    return () => onWriting?.(false);
  }, [onWriting, writes]);
  return { onFocus: () => setFocus(true), onBlur: () => setFocus(false) };
}
