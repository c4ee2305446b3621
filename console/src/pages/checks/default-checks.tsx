import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/form.tsx';
import type { DefaultsDraft } from './checks-draft.ts';
import { newLine } from './checks-draft.ts';
import { ChecksFields, type ChecksProps, RepairsField } from './checks-fields.tsx';
import css from './checks-form.module.css';

/** What the tasks of a project, an automation or an environment are checked by when they name nothing themselves. */
export function DefaultChecks({ of, ...props }: ChecksProps<DefaultsDraft> & { of: keyof typeof t.checksForm.of }) {
  const { draft, change, said } = props;
  const texts = t.checksForm;
  return (
    <div className={css.column}>
      <Choice
        label={texts.defaults}
        hint={texts.defaultsHint}
        // Where the lines are, they say it.
        said={draft.of === 'own' ? null : said('checks')}
        value={draft.of}
        onChange={(next) =>
          change({ of: next, ...(next === 'own' && draft.lines.length === 0 && { lines: [newLine()] }) })
        }
        options={(['inherited', 'none', 'own'] as const).map((one) => [one, texts.of[of][one]])}
      />
      {draft.of === 'own' && <ChecksFields {...props} />}
      {/* A task with checks of its own has this from here, too. */}
      <RepairsField {...props} />
    </div>
  );
}
