// A button with a list of things to do.
import { Fragment, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Button } from '../../ui/ui.tsx';
import css from './menu.module.css';

export interface MenuItem {
  label: string;
  icon: IconName;
  danger?: boolean;
  onSelect: () => void;
}

/** `groups` are parted by lines. */
export function Menu({ label, groups }: { label: string; groups: MenuItem[][] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];

  useEffect(() => {
    if (!open) return;
    items()[0]?.focus();
    const onPointer = ({ target }: PointerEvent) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [open]);

  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const all = items();
    const at = all.findIndex((item) => item === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (to !== undefined) {
      event.preventDefault();
      all.at(to % all.length)?.focus();
    }
  };
  return (
    <div className={css.root} ref={root} onKeyDown={onKeyDown}>
      <Button
        small
        look="ghost"
        icon="Ellipsis"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <div className={css.menu} role="menu" aria-label={label}>
          {groups
            .filter((group) => group.length > 0)
            .map((group, index) => (
              <Fragment key={index}>
                {index > 0 && <hr />}
                {group.map(({ label: what, icon, danger = false, onSelect }) => (
                  <button
                    key={what}
                    type="button"
                    role="menuitem"
                    tabIndex={-1}
                    data-danger={danger}
                    onClick={() => (close(), onSelect())}
                  >
                    <Icon name={icon} size={14} />
                    {what}
                  </button>
                ))}
              </Fragment>
            ))}
        </div>
      )}
    </div>
  );
}
