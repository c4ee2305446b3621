import type { RunningCheck as Running } from '../../../api/check-queries.ts';
import type { TaskCheck } from '../../../api/client.ts';
import { printerOf } from '../../../api/task-live.ts';
import { t } from '../../../texts/index.ts';
import { Icon } from '../../../ui/icon.tsx';
import { LiveOutput } from '../live-output.tsx';
import type { Unfolding } from './check.tsx';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';

interface Props extends Unfolding {
  check: Running;
  was: TaskCheck['status'] | undefined;
}

/** One that runs: what it writes is one click away, and grows. */
export function RunningCheck({ check, was, open, onToggle }: Props) {
  const { name, phase } = check;
  const texts = t.checksPanel;
  const words = texts.running[phase];
  return (
    <details open={open} onToggle={(event) => onToggle(event.currentTarget.open)}>
      <summary className={css.line}>
        <CheckMark look="running" />
        <strong>{name}</strong>
        <span className={css.how}>
          {was === undefined ? words : t.checks.since(texts.before(t.checks.is[was]), words)}
        </span>
        <Icon className={css.chevron} name="ChevronRight" size={13} />
      </summary>
      {open && (
        <div className={css.body}>
          <LiveOutput printer={printerOf(check)} label={name} />
        </div>
      )}
    </details>
  );
}
