// Single keys, as in Linear or GitHub; none of them while one types, none with a modifier.
import { useEffect, useRef } from 'react';
import { t } from '../texts/index.ts';
import { Dialog, Kbd, ui } from '../ui/ui.tsx';

type Keys = Record<string, (event: KeyboardEvent) => void>;

export function useShortcuts(keys: Keys, active = true) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (!active) return;
    let first = '';
    let timer = 0;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest('textarea, select, [contenteditable], dialog[open]')) return;
      // A radio or check box takes no text: only what moves or sets it is its own.
      const input = target.closest('input');
      if (input !== null && (!/^(radio|checkbox)$/.test(input.type) || [' ', 'Enter'].includes(event.key))) return;
      // A button or link that has the focus keeps Enter and space for itself.
      if ((event.key === 'Enter' || event.key === ' ') && target.closest('button, a, summary')) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const run = current.current[first === '' ? key : `${first} ${key}`];
      window.clearTimeout(timer);
      first = '';
      if (run !== undefined) {
        event.preventDefault();
        run(event);
      } else if (Object.keys(current.current).some((one) => one.startsWith(`${key} `))) {
        first = key;
        timer = window.setTimeout(() => (first = ''), 900);
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [active]);
}

/** Which keys there are. */
export function ShortcutList({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.shortcuts.title}>
      <dl className={ui.shortcuts}>
        {Object.entries(t.shortcuts.keys).map(([keys, what]) => (
          <div key={keys}>
            <dt>{what}</dt>
            <dd>
              {keys.split(' ').map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
