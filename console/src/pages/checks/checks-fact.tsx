import type { Project } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { inOneLine } from '../../ui/code.tsx';
import css from './checks-form.module.css';

/** By what the tasks of a project, an automation or an environment are checked. */
export function ChecksFact({
  of,
  checks,
  maxRepairs,
}: Pick<Project, 'checks' | 'maxRepairs'> & { of: keyof typeof t.checksForm.of }) {
  const texts = t.checksForm;
  return (
    <>
      {checks === null || checks.length === 0 ? (
        <span>{texts.of[of][checks === null ? 'inherited' : 'none']}</span>
      ) : (
        <ul className={css.fact}>
          {checks.map(({ name, command }) => (
            <li key={name} title={command}>
              {name} <code>{inOneLine(command)}</code>
            </li>
          ))}
        </ul>
      )}
      {maxRepairs !== null && <span className={css.repairs}>{texts.repairs(maxRepairs)}</span>}
    </>
  );
}
