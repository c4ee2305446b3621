import { t } from '../../../texts/index.ts';
import { Check, Choice, Field, form as parts, Group, named, TextField } from '../../../ui/form.tsx';
import { TagInput } from '../../../ui/tags.tsx';
import { Button } from '../../../ui/ui.tsx';
import { asSent, type BindingDraft, type Form, METHODS, MOST_BINDINGS, newBinding } from './draft.ts';
import css from './secrets.module.css';

/** What is wrong with a field, by its name in the API. `exactly`: with it, and with nothing that lies in it. */
export type Said = (field: string, exactly?: boolean) => string | null;

/** Where the value goes. */
export function BindingsEditor({
  bindings,
  said,
  onChange,
}: {
  bindings: BindingDraft[];
  said: Said;
  onChange: (bindings: BindingDraft[]) => void;
}) {
  const texts = t.secrets;
  const wrong = said('bindings', true);
  return (
    <Group label={texts.bindings}>
      <p className={parts.hint}>{texts.bindingsAbout}</p>
      {bindings.map((binding, n) => (
        <BindingFields
          key={binding.id}
          n={n}
          binding={binding}
          said={said}
          onChange={(changes) => onChange(bindings.with(n, { ...binding, ...changes }))}
          onTake={bindings.length === 1 ? null : () => onChange(bindings.toSpliced(n, 1))}
        />
      ))}
      {wrong !== null && (
        <p className={parts.bad} role="alert">
          {named(wrong, texts.bindings)}
        </p>
      )}
      {bindings.length < MOST_BINDINGS && (
        <div>
          <Button small icon="Plus" onClick={() => onChange([...bindings, newBinding()])}>
            {texts.add}
          </Button>
        </div>
      )}
    </Group>
  );
}

interface Props {
  n: number;
  binding: BindingDraft;
  said: Said;
  onChange: (changes: Partial<BindingDraft>) => void;
  /** Null: it is the only one. */
  onTake: (() => void) | null;
}

function BindingFields({ n, binding, said, onChange, onTake }: Props) {
  const texts = t.secrets;
  const { host, port, where } = binding;
  const path = `bindings[${n}]`;
  const wrong = said(path, true) ?? said(`${path}.place`, true);
  return (
    <fieldset className={css.binding}>
      <legend>{texts.binding(n + 1)}</legend>
      <div className={css.hostAndPort}>
        <TextField
          label={texts.host}
          hint={texts.hostHint}
          said={said(`${path}.host`)}
          value={host}
          mono
          placeholder="api.github.com"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={255}
          onChange={(next) => onChange({ host: next })}
        />
        <TextField
          label={texts.port}
          said={said(`${path}.port`)}
          value={port}
          inputMode="numeric"
          autoComplete="off"
          maxLength={5}
          onChange={(next) => onChange({ port: next })}
        />
      </div>
      <div className={css.place}>
        <Choice
          label={texts.where}
          value={where}
          onChange={(next) => onChange({ where: next })}
          options={[
            ['header', texts.places.header],
            ['query', texts.places.query],
          ]}
        />
        {where === 'header' ? (
          <HeaderFields path={path} binding={binding} said={said} onChange={onChange} />
        ) : (
          <TextField
            label={texts.query}
            said={said(`${path}.place.query`)}
            value={binding.query}
            mono
            placeholder="key"
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            onChange={(query) => onChange({ query })}
          />
        )}
      </div>
      <p className={css.sent}>
        {texts.asSent} <code>{asSent(binding)}</code>
      </p>
      {wrong !== null && (
        <p className={parts.bad} role="alert">
          {named(wrong, texts.binding(n + 1))}
        </p>
      )}
      <Narrower path={path} binding={binding} said={said} onChange={onChange} />
      {onTake !== null && (
        <div>
          <Button small look="danger" aria-label={texts.take(n + 1)} onClick={onTake}>
            {texts.remove}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

type Part = Pick<Props, 'binding' | 'said' | 'onChange'> & { path: string };

function HeaderFields({ path, binding, said, onChange }: Part) {
  const texts = t.secrets;
  const { header, form, user } = binding;
  return (
    <>
      <TextField
        label={texts.header}
        said={said(`${path}.place.header`)}
        value={header}
        mono
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        onChange={(next) => onChange({ header: next })}
      />
      <Choice
        label={texts.form}
        said={said(`${path}.place.form`)}
        value={form}
        onChange={(next) => onChange({ form: next })}
        options={(Object.keys(texts.forms) as Form[]).map((one) => [one, texts.forms[one]] as const)}
      />
      {form === 'basic' && (
        <TextField
          label={texts.user}
          hint={texts.userHint}
          said={said(`${path}.place.user`)}
          value={user}
          mono
          placeholder="x-access-token"
          autoComplete="off"
          spellCheck={false}
          maxLength={100}
          onChange={(next) => onChange({ user: next })}
        />
      )}
    </>
  );
}

/** Unfolded when one looks for it: most secrets are for all requests to a host. */
function Narrower({ path, binding, said, onChange }: Part) {
  const texts = t.secrets;
  const { methods, paths } = binding;
  const narrowed = methods.length > 0 || paths.length > 0;
  const wrong = said(`${path}.methods`);
  return (
    <details className={css.narrow}>
      <summary>{narrowed ? texts.narrowed : texts.narrow}</summary>
      <Group label={texts.methods}>
        <div className={css.methods}>
          {METHODS.map((method) => (
            <Check
              key={method}
              checked={methods.includes(method)}
              onChange={(on) =>
                onChange({ methods: METHODS.filter((one) => (one === method ? on : methods.includes(one))) })
              }
            >
              {method}
            </Check>
          ))}
        </div>
        <p className={wrong === null ? parts.hint : parts.bad}>
          {wrong === null ? texts.methodsHint : named(wrong, texts.methods)}
        </p>
      </Group>
      <Field label={texts.paths} hint={texts.pathsHint} said={said(`${path}.paths`)}>
        {(control) => (
          <TagInput control={control} longest={200} tags={paths} onChange={(next) => onChange({ paths: next })} />
        )}
      </Field>
    </details>
  );
}
