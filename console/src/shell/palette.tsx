// Everything by name: pages, actions, tasks, projects. Opened by Ctrl-K from anywhere, also while one writes.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../texts/index.ts';
import { Icon } from '../ui/icon.tsx';
import { cx, Failure, Kbd } from '../ui/ui.tsx';
import { type Entry, usePaletteEntries } from './palette-entries.tsx';
import css from './palette.module.css';

export function Palette({
  open,
  setOpen,
  showHelp,
}: {
  open: boolean;
  setOpen: (open: boolean) => void;
  showHelp: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      // Nothing is opened above another dialog: it asks something.
      if (document.querySelector('dialog[open]') === null) setOpen(true);
      else if (dialog.current?.open === true) setOpen(false);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      className={css.palette}
      aria-label={t.palette.open}
      onClose={() => setOpen(false)}
      onClick={(event) => event.target === dialog.current && setOpen(false)}
    >
      {open && <Search close={() => setOpen(false)} showHelp={showHelp} />}
    </dialog>
  );
}

function Search({ close, showHelp }: { close: () => void; showHelp: () => void }) {
  const id = useId();
  const [text, setText] = useState('');
  // By its id: what comes later above it moves it, and Enter still does what was seen.
  const [at, setAt] = useState<string | null>(null);
  const { groups, busy, error } = usePaletteEntries(text, showHelp);
  const entries = groups.flatMap((group) => group.entries);
  const found = entries.findIndex((entry) => entry.id === at);
  const chosen = found === -1 ? Math.min(0, entries.length - 1) : found;
  const shown = entries[chosen]?.id ?? null;
  useEffect(() => {
    if (!busy) setAt(shown);
  }, [shown, at, busy]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      if (entries.length === 0) return;
      const next = chosen + by;
      // A single step goes round.
      const to =
        Math.abs(by) === 1 ? (next + entries.length) % entries.length : Math.max(0, Math.min(entries.length - 1, next));
      setAt(entries[to]?.id ?? null);
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(entries[chosen]);
    }
  };
  const idOf = (index: number) => `${id}-${index}`;
  let index = -1;
  return (
    <div className={css.body}>
      <label className={css.input}>
        <Icon name="Search" size={16} />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={id}
          aria-activedescendant={entries.length > 0 ? idOf(chosen) : undefined}
          aria-label={t.palette.placeholder}
          placeholder={t.palette.placeholder}
          value={text}
          maxLength={200}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => (setText(event.target.value), setAt(null))}
          onKeyDown={onKeyDown}
        />
      </label>
      <div ref={list} id={id} role="listbox" aria-label={t.palette.results} aria-busy={busy} className={css.list}>
        {groups.map(({ title, entries: some }) => (
          <div key={title} role="group" aria-label={title}>
            <div className={css.group} aria-hidden>
              {title}
            </div>
            {some.map((entry) => {
              index += 1;
              const mine = index;
              return (
                <div
                  key={entry.id}
                  id={idOf(mine)}
                  role="option"
                  aria-selected={mine === chosen}
                  className={cx(css.entry, mine === chosen && css.chosen)}
                  onMouseMove={() => setAt(entry.id)}
                  onClick={() => run(entry)}
                >
                  {entry.icon}
                  <span className={cx(css.label, 'ellipsis')}>{entry.label}</span>
                  {entry.side}
                </div>
              );
            })}
          </div>
        ))}
        {entries.length === 0 && !busy && <p className={css.none}>{t.palette.none}</p>}
      </div>
      {error !== null && (
        <div className={css.failure}>
          <Failure error={error} />
        </div>
      )}
      <footer className={css.foot} aria-hidden>
        <Hint keys={['↑', '↓']}>{t.palette.keys.move}</Hint>
        <Hint keys={['↵']}>{t.palette.keys.open}</Hint>
        <Hint keys={['Esc']}>{t.palette.keys.close}</Hint>
      </footer>
    </div>
  );
}

const Hint = ({ keys, children }: { keys: string[]; children: ReactNode }) => (
  <span>
    {keys.map((key) => (
      <Kbd key={key}>{key}</Kbd>
    ))}
    {children}
  </span>
);
