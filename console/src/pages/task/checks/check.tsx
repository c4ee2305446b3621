import { useEffect } from 'react';
import type { TaskCheck } from '../../../api/client.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Code, exactly, inOneLine } from '../../../ui/code.tsx';
import { DownloadButton } from '../../../ui/download.tsx';
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

type Standing = Omit<Pair, 'running'>;

interface Props extends Standing, Unfolding {
  /** Called while what it wrote on the original is wanted and not at hand. */
  wanted?: () => void;
}

/** One that has ended: its line, and what it wrote one click away, on the original and on the work. */
export function Check({ open, onToggle, wanted, ...standing }: Props) {
  const { name, before, after, was } = standing;
  const texts = t.checksPanel;
  const missing = open && before === undefined && was !== undefined;
  useEffect(() => {
    if (missing) wanted?.();
  });
  const { command = null, output = null } = after ?? before ?? {};
  const paths = after?.protectedChanged ?? [];
  const more = paths.length - PATHS;
  const line = <Line {...standing} />;
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

function Line({ name, before, after, was, is }: Standing) {
  const one = after ?? before;
  const texts = t.checksPanel;
  const words = was && texts.before(t.checks.is[was]);
  const now = is && t.checks.is[is];
  const how = [
    words && now ? t.checks.since(words, now) : (now ?? words),
    one?.status === 'failed' && one.exitCode !== null && texts.exit(one.exitCode),
    one?.required === false && texts.optional,
  ].filter(Boolean);
  return (
    <>
      <CheckMark look={is ?? 'pending'} />
      <strong>{name}</strong>
      <span className={css.how} data-status={is}>
        {how.join(', ')}
      </span>
      {one && <span className="num">{duration(one.durationMs)}</span>}
      {one && one.command !== null && <code className="ellipsis">{inOneLine(one.command)}</code>}
    </>
  );
}

function Wrote({ check, label, title }: { check: TaskCheck; label: string; title: string | undefined }) {
  const readsFiles = useCan()('files:read');
  if (check.output === null) return null;
  return (
    <div>
      {title !== undefined && <h3>{title}</h3>}
      {/* Of what failed, the end says why. */}
      <Terminal stdout={check.output} live={check.status !== 'passed'} label={label} />
      {readsFiles && check.outputFileId !== null && (
        <DownloadButton look="ghost" file={{ id: check.outputFileId, name: `${label}.log` }}>
          {t.checksPanel.all}
        </DownloadButton>
      )}
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
