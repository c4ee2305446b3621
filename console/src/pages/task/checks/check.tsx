import { useEffect } from 'react';
import type { TaskCheck } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Code, exactly, inOneLine } from '../../../ui/code.tsx';
import { duration } from '../../../ui/format.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Terminal } from '../../../ui/terminal.tsx';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';
import type { Pair } from './rounds.ts';

/** So many paths stand in the line; all of them in what unfolds. */
const PATHS = 3;

export interface Unfolding {
  open: boolean;
  onToggle: (open: boolean) => void;
}

interface Props extends Pair {
  /** How it stood on the original, also when what it wrote there is not at hand. */
  was: TaskCheck['status'] | undefined;
  /** Called while that is wanted. */
  wanted?: () => void;
}

/** One that has ended: its line, and what it wrote one click away, on the original and on the work. */
export function Check({ open, onToggle, wanted, ...standing }: Props & Unfolding) {
  const { name, before, after, was } = standing;
  const texts = t.checksPanel;
  const missing = open && before === undefined && was !== undefined;
  useEffect(() => {
    if (missing) wanted?.();
  });
  const one = after ?? before;
  if (one === undefined) return null;
  const { command, output } = one;
  const paths = after?.protectedChanged ?? [];
  const more = paths.length - PATHS;
  const line = <Line {...standing} was={before?.status ?? was} />;
  return (
    <>
      {command === null && output === null ? (
        <div className={css.line}>{line}</div>
      ) : (
        <details open={open} onToggle={(event) => onToggle(event.currentTarget.open)}>
          <summary className={css.line}>
            {line}
            <Icon className={css.chevron} name="ChevronRight" size={13} />
          </summary>
          {open && (
            <div className={css.body}>
              {command !== null && <Code plain code={command} language="bash" label={texts.command(name)} />}
              {more > 0 && <Paths paths={paths} />}
              {after && <Wrote check={after} label={texts.output(name)} title={before && texts.on.after} />}
              {before && <Wrote check={before} label={texts.outputBefore(name)} title={texts.on.before} />}
            </div>
          )}
        </details>
      )}
      {paths.length > 0 && !(open && more > 0) && <Paths paths={paths.slice(0, PATHS)} more={more} />}
    </>
  );
}

function Line({ name, before, after, was }: Props) {
  const one = after ?? before;
  if (one === undefined) return null;
  const texts = t.checksPanel;
  const { is, since } = t.checks;
  const words = was === undefined ? '' : texts.before(is[was]);
  const how = [
    after === undefined ? words : was === undefined ? is[after.status] : since(words, is[after.status]),
    one.status === 'failed' && one.exitCode !== null && texts.exit(one.exitCode),
    !one.required && texts.optional,
  ].filter(Boolean);
  return (
    <>
      <CheckMark look={after?.status ?? 'pending'} />
      <strong>{name}</strong>
      <span className={css.how} data-status={after?.status}>
        {how.join(', ')}
      </span>
      <span className="num">{duration(one.durationMs)}</span>
      {one.command !== null && <code className="ellipsis">{inOneLine(one.command)}</code>}
    </>
  );
}

function Wrote({ check, label, title }: { check: TaskCheck; label: string; title: string | undefined }) {
  if (check.output === null) return null;
  return (
    <div>
      {title !== undefined && <h3>{title}</h3>}
      {/* Of what failed, the end says why. */}
      <Terminal stdout={check.output} live={check.status !== 'passed'} label={label} />
    </div>
  );
}

function Paths({ paths, more = 0 }: { paths: string[]; more?: number }) {
  return (
    <p className={css.paths}>
      {t.checksPanel.notUsed}{' '}
      {paths.map((path) => (
        <code key={path}>{exactly(path)}</code>
      ))}{' '}
      {more > 0 && t.checksPanel.more(more)}
    </p>
  );
}
