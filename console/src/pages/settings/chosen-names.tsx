import type { ReactNode } from 'react';
import { Check, Choice, form as parts, Group, named } from '../../ui/form.tsx';

interface Names {
  /** What the service calls them here. */
  label: string;
  /** Those that stand there, chosen or not. */
  shown: string[];
  names: string[];
  onChange: (names: string[]) => void;
  said: string | null;
  /** What is said of one. */
  about: (name: string) => string | undefined;
}

/** Each name with a box. @param children what stands before them. */
export function NameChecks({
  title,
  label,
  shown,
  names,
  onChange,
  said,
  about,
  children,
}: Names & { title: string; children?: ReactNode }) {
  return (
    <Group label={title}>
      {children}
      <div className={parts.choices}>
        {shown.map((name) => {
          const words = about(name);
          return (
            <Check
              key={name}
              checked={names.includes(name)}
              onChange={(on) => onChange(on ? [...names, name] : names.filter((one) => one !== name))}
            >
              <code>{name}</code> {words !== undefined && <small>{words}</small>}
            </Check>
          );
        })}
      </div>
      {said !== null && (
        <p className={parts.bad} role="alert">
          {named(said, label)}
        </p>
      )}
    </Group>
  );
}

/** Those by default (null), or some of them. @param usual what is chosen when somebody begins to choose. */
export function ChosenNames({
  texts,
  names,
  usual,
  onChange,
  children,
  ...rest
}: Omit<Names, 'label' | 'names' | 'onChange'> & {
  texts: { label: string; usual: string; named: string; names: string };
  names: string[] | null;
  usual: string[];
  onChange: (names: string[] | null) => void;
  children?: ReactNode;
}) {
  return (
    <>
      <Choice
        label={texts.label}
        value={names === null ? 'usual' : 'named'}
        onChange={(which) => onChange(which === 'usual' ? null : usual)}
        options={[
          ['usual', texts.usual],
          ['named', texts.named],
        ]}
      />
      {names !== null && (
        <NameChecks title={texts.names} label={texts.label} names={names} onChange={onChange} {...rest}>
          {children}
        </NameChecks>
      )}
    </>
  );
}
