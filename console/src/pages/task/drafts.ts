import { useEffect, useRef, useState } from 'react';
import { useContext } from '../../shell/can.ts';
import { remember, remembered } from '../../shell/url.ts';

/**
 * What was written and not sent yet stays in this browser: over a reload, a broken connection, a session that ended.
 * A tab in which nobody has written shows what another tab writes; what that tab has sent is not offered here again.
 */
export function useDraft(place: string): [draft: string, set: (draft: string) => void] {
  const { user } = useContext();
  const name = `draft.${user.id}.${place}`;
  const [draft, setDraft] = useState(() => remembered(name, ''));
  const writtenHere = useRef(false);
  useEffect(() => {
    const update = () => {
      if (!writtenHere.current) setDraft(remembered(name, ''));
    };
    // Another tab may have written between the first reading and now.
    update();
    window.addEventListener('storage', update);
    return () => window.removeEventListener('storage', update);
  }, [name]);
  return [
    draft,
    (next) => {
      writtenHere.current = next !== '';
      setDraft(next);
      if (next === '') forget(name);
      else remember(name, next);
    },
  ];
}

function forget(name: string): void {
  try {
    localStorage.removeItem(`millwright.${name}`);
  } catch {
    // Then it was not kept either.
  }
}
