// The parts of forms. What the service says of a field (`param` of the error) stands below that field.
import type { ComponentProps, ReactNode, RefObject } from 'react';
import { useEffect, useId } from 'react';
import { MillwrightError } from '../api/client.ts';
import { t } from '../texts/index.ts';
import { Button, cx, Dialog, Failure, saidBy, ui } from './ui.tsx';
import css from './form.module.css';

export { css as form };

/** The service's sentence about one field, or about what lies in it. */
export function saidOf(error: unknown, param: string): string | null {
  const said = error instanceof MillwrightError ? error.param : null;
  return said !== null && (said === param || said.startsWith(`${param}.`) || said.startsWith(`${param}[`))
    ? saidBy(error)
    : null;
}

/** What the parts of a form are given. */
export interface Editing<Draft> {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  error: unknown;
}

/** What a field needs of it, by the name that the draft and the API have for the field. */
export const fieldOf = <Draft, Name extends keyof Draft & string>(
  { draft, change, error }: Editing<Draft>,
  name: Name,
) => ({
  value: draft[name],
  said: saidOf(error, name),
  // To TypeScript a computed name is any name.
  onChange: (value: Draft[Name]) => change({ [name]: value } as unknown as Partial<Draft>),
});

/** What the service says of a field begins with its name in the API: here with the name that the page has for it. */
export const named = (said: string, label: string): string => said.replace(/^[a-z]\w*(\.\w+|\[\d+\])*(?=[ :])/, label);

/** What is wrong and belongs to none of the fields that are shown. */
export function FormFailure({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (error == null || fields.some((name) => saidOf(error, name) !== null)) return null;
  return <Failure error={error} />;
}

/** The field at fault is unfolded and has the focus, so that one sees it and can mend it. */
export function useFaultInFocus(form: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    const wrong = error == null ? null : form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const details = wrong?.closest('details');
    if (details) details.open = true;
    wrong?.focus();
  }, [form, error]);
}

export interface Control {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A control with its name. */
export function Field({
  label,
  hint,
  said,
  children,
}: {
  label: string;
  hint?: ReactNode;
  said?: string | null;
  children: (control: Control) => ReactNode;
}) {
  const id = useId();
  const bad = said !== undefined && said !== null;
  const described = bad || hint !== undefined ? `${id}-about` : undefined;
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': bad })}
      {bad ? (
        <p id={described} className={css.bad} role="alert">
          {named(said, label)}
        </p>
      ) : (
        hint !== undefined && (
          <p id={described} className={css.hint}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

type Typed<Tag extends 'input' | 'textarea'> = Omit<ComponentProps<Tag>, 'className' | 'onChange'> & {
  label: string;
  hint?: string;
  said?: string | null;
  /** For what is no prose. */
  mono?: boolean;
  onChange: (text: string) => void;
};

export const TextField = ({ label, hint, said = null, mono = false, onChange, ...props }: Typed<'input'>) => (
  <Field label={label} hint={hint} said={said}>
    {(control) => (
      <input
        {...control}
        className={cx(ui.input, mono && 'mono')}
        onChange={(event) => onChange(event.target.value)}
        {...props}
      />
    )}
  </Field>
);

export const TextArea = ({ label, hint, said = null, mono = false, onChange, ...props }: Typed<'textarea'>) => (
  <Field label={label} hint={hint} said={said}>
    {(control) => (
      <textarea
        {...control}
        className={cx(ui.input, css.text, mono && 'mono')}
        onChange={(event) => onChange(event.target.value)}
        {...props}
      />
    )}
  </Field>
);

/** A choice of a few: the browser's own list. */
export const Choice = <T extends string>({
  label,
  hint,
  said = null,
  value,
  options,
  onChange,
}: {
  label: string;
  hint?: string;
  said?: string | null;
  value: T;
  options: (readonly [NoInfer<T>, string])[];
  onChange: (value: T) => void;
}) => (
  <Field label={label} hint={hint} said={said}>
    {(control) => (
      <select {...control} className={ui.select} value={value} onChange={(event) => onChange(event.target.value as T)}>
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const Group = ({ label, children }: { label: string; children: ReactNode }) => (
  <fieldset className={css.group}>
    <legend>{label}</legend>
    {children}
  </fieldset>
);

export const Check = ({
  type = 'checkbox',
  name,
  checked,
  disabled,
  onChange,
  children,
}: {
  type?: 'checkbox' | 'radio';
  name?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}) => (
  <label className={css.check}>
    <input
      type={type}
      name={name}
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChange(event.target.checked)}
    />
    <span>{children}</span>
  </label>
);

/** How a dialog ends: with nothing done, or with its one action, a button like any other. */
export const DialogActions = ({
  keep = t.common.cancel,
  onKeep,
  ...action
}: ComponentProps<typeof Button> & { keep?: string; onKeep: () => void }) => (
  <div className={ui.dialogActions}>
    <Button onClick={onKeep}>{keep}</Button>
    <Button look="primary" {...action} />
  </div>
);

/** Before something that cannot be taken back. */
export const Confirm = ({
  open,
  onClose,
  title,
  action,
  does,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  action: string;
  /** What is done then. */
  does: { mutate: () => void; isPending: boolean; error: unknown };
  children: ReactNode;
}) => (
  <Dialog open={open} onClose={onClose} title={title}>
    {children}
    {does.error !== null && <Failure error={does.error} />}
    <DialogActions onKeep={onClose} look="danger" disabled={does.isPending} onClick={() => does.mutate()}>
      {action}
    </DialogActions>
  </Dialog>
);
