import { useState } from 'react';
import { useContext } from '../../shell/can.ts';
import { remember, remembered } from '../../shell/url.ts';

/** What was written and not sent yet stays in this browser: over a reload, a broken connection, a session that ended. */
export function useDraft(place: string): [draft: string, set: (draft: string) => void] {
  const { user } = useContext();
  const name = `draft.${user.id}.${place}`;
  const [draft, setDraft] = useState(() => remembered(name, ''));
  return [
    draft,
    (next) => {
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
