// Steps of the agent, each a line that can be unfolded.
import { memo, type ReactNode, useContext } from 'react';
import type { Decision } from '../../api/decisions.ts';
import { t } from '../../texts/index.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { clockTime, fullTime } from '../../ui/format.ts';
import { cx } from '../../ui/ui.tsx';
import { useFold } from './folds.ts';
import { Decisions } from './live.ts';
import { type Call, exitCode, failed, type Now, type Outcome, outcomeOf, type Step } from './steps.ts';
import { viewOf } from './tool-view.tsx';
import css from './tool.module.css';

const MANY = 5;
const TAIL = 3;

/** Many steps are one line, which says what they were and whether one of them failed; of those under way the last are shown. */
export const Steps = memo(function Steps({
  id,
  steps,
  now,
  last,
}: {
  id: string;
  steps: Step[];
  now: Now;
  last: boolean;
}) {
  const many = steps.length > MANY;
  const [open, toggle] = useFold(id, !many);
  const active = last && now.state !== 'over';
  const tail = active ? steps.slice(-TAIL) : [];
  const shown = open ? steps : tail;
  const folded = open ? steps : steps.slice(0, steps.length - tail.length);
  const failures = folded.filter(failed).length;
  return (
    <div className={cx(css.steps, 'box')}>
      {many && (
        <button type="button" className={cx(css.head, css.summary)} data-step aria-expanded={open} onClick={toggle}>
          <span className={css.mark}>
            <Icon name={open ? 'Collapse' : 'Expand'} size={14} />
          </span>
          <span className={cx(css.what, 'ellipsis')}>{summaryOf(folded)}</span>
          <span className="grow" />
          {failures > 0 && <span className={css.exit}>{t.task.steps.failures(failures)}</span>}
          <span className={css.quiet}>{t.task.steps.steps(folded.length)}</span>
          <Chevron open={open} />
        </button>
      )}
      {shown.map((step) =>
        step.kind === 'reasoning' ? (
          <Reasoning key={step.key} id={step.key} text={step.text} />
        ) : (
          <ToolRow key={step.key} call={step.call} outcome={outcomeOf(step.call, now)} />
        ),
      )}
    </div>
  );
});

const Chevron = ({ open }: { open: boolean }) => (
  <Icon className={css.chevron} name={open ? 'ChevronDown' : 'ChevronRight'} size={14} />
);

interface FoldProps {
  id: string;
  icon: IconName;
  outcome: Outcome;
  label: string;
  open: boolean;
  side?: ReactNode;
  /** Stands below the line, whether it is unfolded or not. */
  below?: ReactNode;
  body: (() => ReactNode) | null;
  children: ReactNode;
}

function Fold({ id, icon, children, side, below, open: first, outcome, body, label }: FoldProps) {
  const [open, toggle] = useFold(id, first);
  return (
    <div className={css.tool} data-outcome={outcome}>
      <button
        type="button"
        className={css.head}
        data-step
        aria-expanded={body ? open : undefined}
        disabled={body === null}
        onClick={toggle}
      >
        <span className={css.mark}>{outcome === 'running' ? <Spinner /> : <Icon name={icon} size={14} />}</span>
        <span className={cx(css.what, 'ellipsis')}>{children}</span>
        <span className="grow" />
        {side}
        <span className="sr">{label}</span>
        {body && <Chevron open={open} />}
      </button>
      {below}
      {body && open && <div className={css.body}>{body()}</div>}
    </div>
  );
}

export const Spinner = () => (
  <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden className={css.spin}>
    <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.8" opacity=".25" />
    <path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
  </svg>
);

const Reasoning = memo(function Reasoning({ id, text }: { id: string; text: string }) {
  const body = () => (
    <div className={css.thought}>
      <Markdown text={text} />
    </div>
  );
  return (
    <Fold id={id} icon="Brain" outcome="ok" open={false} label="" body={body}>
      <span className={css.verb}>{t.task.steps.thought}</span>{' '}
      <span className={css.quiet}>
        {text
          .trim()
          .split('\n', 1)[0]
          ?.replace(/^[#*_>\s]+|[*_]+$/g, '')}
      </span>
    </Fold>
  );
});

const ToolRow = memo(function ToolRow({ call, outcome }: { call: Call; outcome: Outcome }) {
  const view = viewOf(call, outcome);
  const code = exitCode(call);
  const decision = useContext(Decisions).get(call.id);
  const side = (
    <>
      {view.side}
      {outcome === 'failed' && (
        <span className={css.exit}>{code === null ? t.task.steps.error : t.task.steps.exit(code)}</span>
      )}
      {outcome === 'denied' && <span className={cx(css.exit, css.denied)}>{t.task.outcomes.denied}</span>}
      {outcome === 'waiting' && <span className={cx(css.exit, css.waiting)}>{t.task.steps.needsApproval}</span>}
      {outcome === 'stopped' && <span className={cx(css.exit, css.denied)}>{t.task.outcomes.stopped}</span>}
    </>
  );
  return (
    <Fold
      id={call.id}
      icon={view.icon}
      outcome={outcome}
      // What a person decided about is to be read whole.
      open={decision !== undefined || outcome === 'waiting' || (view.open ?? outcome === 'failed')}
      below={decision && <Decided {...decision} />}
      label={t.task.outcomes[outcome]}
      body={view.body}
      side={side}
    >
      <span className={css.verb}>{view.verb}</span> {view.object}
    </Fold>
  );
});

const Decided = ({ outcome, by, at }: Decision) => (
  <p className={css.decided}>
    <Icon name={outcome === 'approved' ? 'Check' : 'X'} size={12} /> {t.task.decided(outcome, by)}{' '}
    <time dateTime={at} title={fullTime(at)}>
      {clockTime(at)}
    </time>
  </p>
);

/** `Ran 3 commands, read 2 files`, for a run of steps that is folded. */
function summaryOf(steps: Step[]): string {
  const counts = new Map<string, number>();
  for (const step of steps) {
    if (step.kind === 'reasoning' || step.call.name.startsWith('todo')) continue;
    const name = step.call.name === 'glob' ? 'grep' : step.call.name;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const did: Record<string, (n: number) => string> = t.task.steps.did;
  const text = [...counts].map(([name, n]) => did[name]?.(n) ?? t.task.steps.used(name, n)).join(', ');
  return text === '' ? t.task.steps.thoughts : text.charAt(0).toUpperCase() + text.slice(1);
}
