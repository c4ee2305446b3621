// A field with a list to choose from that is searched while one types (WAI-ARIA, combobox with a list). What is typed is taken too.
import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../texts/index.ts';
import css from './combobox.module.css';
import { Field } from './form.tsx';
import { Icon, type IconName } from './icon.tsx';
import { cx, ui } from './ui.tsx';

export interface Choosable {
  value: string;
  /** What one types for it. */
  name: string;
  /** The row of the list. */
  row: ReactNode;
}

interface Props {
  label: string;
  hint?: ReactNode;
  said?: string | null;
  icon: IconName;
  placeholder: string;
  value: string;
  /** How the value reads while nobody types. */
  shown?: string;
  /** Behind the value, while nobody types. */
  beside?: string;
  options: Choosable[];
  busy: boolean;
  /** Below the list: what is to be known of it. */
  foot?: ReactNode;
  onChange: (value: string) => void;
  /** What is typed, and nothing when the list opens. */
  onSearch: (text: string) => void;
}

export function Combobox({
  label,
  hint,
  said = null,
  icon,
  placeholder,
  beside,
  options,
  busy,
  foot,
  ...props
}: Props) {
  const { value, shown = value, onChange, onSearch } = props;
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const [open, setOpen] = useState(false);
  /** Null: nobody types. */
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  const active = open ? options[at] : undefined;

  useEffect(() => {
    list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const show = () => {
    if (open) return;
    setOpen(true);
    onSearch('');
    setAt(options.findIndex((one) => one.value === value));
  };
  const close = () => {
    setOpen(false);
    setAt(-1);
  };
  const pick = (option: Choosable) => {
    onChange(option.value);
    setTyped(null);
    close();
  };
  const type = (text: string) => {
    setTyped(text);
    setOpen(true);
    setAt(-1);
    onChange(text.trim());
    onSearch(text.trim());
  };
  const move = (to: number) => {
    if (options.length > 0) setAt((to + options.length) % options.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey) return;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      if (!open) show();
      else if (event.altKey) close();
      else if (key === 'ArrowDown') move(at + 1);
      else move(at < 0 ? options.length - 1 : at - 1);
    } else if (key === 'Enter') {
      // It chooses, and sends no form.
      event.preventDefault();
      if (active !== undefined) pick(active);
      else settle();
    } else if (key === 'Escape' && open) {
      // Of the list, not of a dialog around it.
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  /** What was typed in full is chosen. */
  const settle = () => {
    const named = options.find(({ name }) => name.toLowerCase() === typed?.trim().toLowerCase());
    if (typed !== null && named !== undefined) onChange(named.value);
    setTyped(null);
    close();
  };
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) settle();
  };

  return (
    <Field label={label} hint={hint} said={said}>
      {(control) => (
        <div className={css.box} onBlur={onBlur}>
          <Icon name={icon} size={15} />
          <input
            {...control}
            className={cx(ui.input, css.input)}
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={open}
            aria-controls={`${id}-list`}
            aria-activedescendant={active === undefined ? undefined : `${id}-${at}`}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={2048}
            placeholder={placeholder}
            value={typed ?? shown}
            onChange={(event) => type(event.target.value)}
            onClick={show}
            onFocus={(event) => event.target.select()}
            onKeyDown={onKeyDown}
          />
          {typed === null && beside !== undefined && <span className={css.beside}>{beside}</span>}
          {value !== '' && (
            <button
              type="button"
              className={css.clear}
              aria-label={t.form.clear(label)}
              onClick={() => {
                onChange('');
                onSearch('');
                setTyped(null);
                document.getElementById(control.id)?.focus();
              }}
            >
              <Icon name="X" size={14} />
            </button>
          )}
          {/* The field keeps the focus. */}
          <div className={css.popup} hidden={!open} onMouseDown={(event) => event.preventDefault()}>
            <ul ref={list} id={`${id}-list`} role="listbox" aria-label={label} aria-busy={busy}>
              {options.map((option, n) => (
                <li
                  key={option.value}
                  id={`${id}-${n}`}
                  role="option"
                  aria-selected={option.value === value}
                  data-active={n === at}
                  onMouseMove={() => n !== at && setAt(n)}
                  onClick={() => pick(option)}
                >
                  {option.row}
                </li>
              ))}
            </ul>
            {foot !== undefined && (
              <div className={css.foot} role="status">
                {foot}
              </div>
            )}
          </div>
        </div>
      )}
    </Field>
  );
}
