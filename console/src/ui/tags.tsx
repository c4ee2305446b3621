// Words of one's own: shown, and typed.
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { t } from '../texts/index.ts';
import { Icon } from './icon.tsx';
import type { Control } from './form.tsx';
import { ui } from './ui.tsx';
import css from './form.module.css';

export const Tag = ({ children }: { children: ReactNode }) => (
  <span className={css.tag}>
    <span>{children}</span>
  </span>
);

/** At once, or when what is pressed was released: a new row would move the button away from under the pointer. */
function unpressed(act: () => void): void {
  if (document.querySelector(':active') === null) return act();
  const once = new AbortController();
  const release = () => (once.abort(), act());
  for (const name of ['pointerup', 'pointercancel'])
    window.addEventListener(name, release, { capture: true, signal: once.signal });
}

/** Words of one's own, each once. */
export function TagInput({
  control,
  tags,
  longest = 64,
  onChange,
}: {
  control: Control;
  tags: string[];
  /** Characters of one. */
  longest?: number;
  onChange: (tags: string[]) => void;
}) {
  const [text, setText] = useState('');
  const add = (words: string[]) =>
    onChange([...new Set([...tags, ...words.map((word) => word.trim()).filter(Boolean)])]);
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === 'Enter' || event.key === ',') && text.trim() !== '') {
      event.preventDefault();
      add([text]);
      setText('');
    } else if (event.key === 'Backspace' && text === '') onChange(tags.slice(0, -1));
  };
  return (
    <>
      {tags.length > 0 && (
        <span className={css.tags}>
          {tags.map((tag) => (
            <span key={tag} className={css.tag}>
              <span>{tag}</span>
              <button
                type="button"
                aria-label={t.form.removeTag(tag)}
                onClick={() => onChange(tags.filter((one) => one !== tag))}
              >
                <Icon name="X" size={12} />
              </button>
            </span>
          ))}
        </span>
      )}
      <input
        {...control}
        className={ui.input}
        value={text}
        maxLength={longest}
        onChange={({ target: { value } }) => {
          // What is pasted may have several.
          if (!value.includes(',')) return setText(value);
          const words = value.split(',');
          setText(words.pop() ?? '');
          add(words);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => text.trim() !== '' && unpressed(() => (add([text]), setText('')))}
      />
    </>
  );
}
