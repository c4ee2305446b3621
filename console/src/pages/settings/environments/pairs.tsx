import { form as parts, Group, named } from '../../../ui/form.tsx';
import { Button, cx, ui } from '../../../ui/ui.tsx';
import { newPair, type Pair } from './draft.ts';
import css from './environments.module.css';

/** Names with a value each, a line for each of them. */
export function Pairs({
  label,
  about,
  said,
  add,
  name,
  value,
  take,
  pairs,
  onChange,
}: {
  label: string;
  about: string;
  said: string | null;
  add: string;
  /** What the fields and the button of a line are called, by its number. */
  name: (n: number) => string;
  value: (n: number) => string;
  take: (n: number) => string;
  pairs: Pair[];
  onChange: (pairs: Pair[]) => void;
}) {
  const set = (n: number, changes: Partial<Pair>) =>
    onChange(pairs.map((pair, at) => (at === n ? { ...pair, ...changes } : pair)));
  const field = {
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': said !== null,
    className: cx(ui.input, 'mono'),
  };
  return (
    <Group label={label}>
      <p className={parts.hint}>{about}</p>
      {pairs.map((pair, n) => (
        <div key={pair.id} className={css.pair}>
          <input
            {...field}
            aria-label={name(n + 1)}
            value={pair.name}
            maxLength={64}
            autoCapitalize="off"
            // The line is new: one wants to write in it.
            autoFocus={pair.name === ''}
            onChange={(event) => set(n, { name: event.target.value })}
          />
          <input
            {...field}
            aria-label={value(n + 1)}
            value={pair.value}
            maxLength={4096}
            onChange={(event) => set(n, { value: event.target.value })}
          />
          <Button
            look="ghost"
            icon="X"
            aria-label={take(n + 1)}
            onClick={() => onChange(pairs.filter(({ id }) => id !== pair.id))}
          />
        </div>
      ))}
      {said !== null && (
        <p className={parts.bad} role="alert">
          {named(said, label)}
        </p>
      )}
      <div>
        <Button small icon="Plus" onClick={() => onChange([...pairs, newPair()])}>
          {add}
        </Button>
      </div>
    </Group>
  );
}
