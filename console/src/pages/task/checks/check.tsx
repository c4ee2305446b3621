import { useState } from 'react';
import type { TaskCheck } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Code, exactly, inOneLine } from '../../../ui/code.tsx';
import { duration } from '../../../ui/format.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Terminal } from '../../../ui/terminal.tsx';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';

/** So many paths stand in the line; all of them in what unfolds. */
const PATHS = 3;

/** One that has ended: its line, and what it wrote one click away. */
export function Check({ check, before }: { check: TaskCheck; before: TaskCheck['status'] | undefined }) {
  const { name, command, status, output, protectedChanged: paths } = check;
  const texts = t.checksPanel;
  const line = <Line check={check} before={before} />;
  const more = paths.length - PATHS;
  const [open, setOpen] = useState(false);
  return (
    <>
      {command === null && output === null ? (
        <div className={css.line}>{line}</div>
      ) : (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className={css.line}>
            {line}
            <Icon className={css.chevron} name="ChevronRight" size={13} />
          </summary>
          {open && (
            <div className={css.body}>
              {command !== null && <Code plain code={command} language="bash" label={texts.command(name)} />}
              {more > 0 && <Paths paths={paths} />}
              {/* Of what failed, the end says why. */}
              {output !== null && <Terminal stdout={output} live={status !== 'passed'} label={texts.output(name)} />}
            </div>
          )}
        </details>
      )}
      {paths.length > 0 && !(open && more > 0) && <Paths paths={paths.slice(0, PATHS)} more={more} />}
    </>
  );
}

function Line({ check, before }: { check: TaskCheck; before: TaskCheck['status'] | undefined }) {
  const { name, command, required, status, exitCode, durationMs } = check;
  const texts = t.checksPanel;
  const how = [
    texts.is[status],
    status === 'failed' && exitCode !== null && texts.exit(exitCode),
    before !== undefined && texts.before[before],
    !required && texts.optional,
  ].filter(Boolean);
  return (
    <>
      <CheckMark look={status} />
      <strong>{name}</strong>
      <span className={css.how} data-status={status}>
        {how.join(', ')}
      </span>
      <span className="num">{duration(durationMs)}</span>
      {command !== null && <code className="ellipsis">{inOneLine(command)}</code>}
    </>
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
