// The field of a value. The browser has the value, and no script keeps it: React would write it into the page as an attribute.
import { type ClipboardEvent, type RefObject, useState } from 'react';
import { t } from '../../../texts/index.ts';
import { Field } from '../../../ui/form.tsx';
import { cx, ui } from '../../../ui/ui.tsx';

/** Characters: a shorter value stands in many texts by chance (reference §24). */
export const LEAST_VALUE = 8;
const MOST_VALUE = 65_536;

export function ValueField({
  input,
  label,
  hint,
  said,
}: {
  input: RefObject<HTMLInputElement | null>;
  label: string;
  hint: string;
  said: string | null;
}) {
  const [lines, setLines] = useState(false);
  // A field of one line would join them, and the value be another one.
  const onPaste = (event: ClipboardEvent) => {
    const several = /[\r\n]/.test(event.clipboardData.getData('text').trim());
    setLines(several);
    if (several) event.preventDefault();
  };
  return (
    <Field label={label} hint={hint} said={lines ? t.secrets.oneLine : said}>
      {(control) => (
        <input
          {...control}
          ref={input}
          type="password"
          className={cx(ui.input, 'mono')}
          maxLength={MOST_VALUE}
          // Never offered again by the browser, nor by what keeps passwords.
          autoComplete="off"
          spellCheck={false}
          data-1p-ignore
          onPaste={onPaste}
          onInput={() => setLines(false)}
        />
      )}
    </Field>
  );
}

/** What stands in the field, which is empty then; null: nothing did. White space around a value is none of it. */
export function takenFrom(input: RefObject<HTMLInputElement | null>): string | null {
  if (input.current === null) return null;
  const value = input.current.value.trim();
  input.current.value = '';
  return value === '' ? null : value;
}
