// What the task has used, and how much of its budget that is.
import { childrenOf } from '../../api/child-queries.ts';
import type { Task } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { count, duration, money } from '../../ui/format.ts';
import { Fact } from './fact.tsx';
import css from './task.module.css';

/** `turn` is the last one. A budget counts one turn, and the task's usage all of them: so there are meters in the first alone. */
export function Spent({ task, turn }: { task: Task; turn: number }) {
  const { spent } = t.task;
  const { usage, budget } = task;
  const of = childrenOf(task) > 0 ? task.children.usage : null;
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <section>
      <h2>{spent.title}</h2>
      <dl className={css.facts}>
        {usage.durationMs > 0 && <Fact name={spent.worked}>{duration(usage.durationMs)}</Fact>}
        <Fact name={spent.steps}>{spent.stepsAndCalls(usage.steps, usage.toolCalls)}</Fact>
        {tokens > 0 && (
          <Fact name={spent.tokens}>
            {spent.inAndOut(count(usage.inputTokens), count(usage.outputTokens))}
            {usage.cachedInputTokens > 0 && (
              <div className={css.sub}>{spent.cached(count(usage.cachedInputTokens))}</div>
            )}
            {usage.reasoningTokens > 0 && <div className={css.sub}>{spent.thought(count(usage.reasoningTokens))}</div>}
          </Fact>
        )}
        {of !== null && (
          <Fact name={t.children.usage}>
            {t.task.steps.steps(of.steps)}
            {of.inputTokens + of.outputTokens > 0 && (
              <div className={css.sub}>{spent.inAndOut(count(of.inputTokens), count(of.outputTokens))}</div>
            )}
            {of.cost && <div className={css.sub}>{money(Number(of.cost.amount))}</div>}
          </Fact>
        )}
        {usage.cost && <Fact name={spent.cost}>{money(Number(usage.cost.amount))}</Fact>}
      </dl>
      {budget && (
        <>
          <p className={css.sub}>{spent.budget}</p>
          {metersOf(budget).map(({ label, used, most, show }) =>
            most === null || most === 0 ? null : turn <= 1 ? (
              <Meter key={label} label={label} used={used(usage)} most={most} show={show} />
            ) : (
              <p key={label} className={css.limit}>
                {label} <span className="num">{show(most)}</span>
              </p>
            ),
          )}
        </>
      )}
    </section>
  );
}

type Usage = Task['usage'];

const metersOf = ({ maxSteps, maxTokens, maxDurationSeconds, maxCost }: NonNullable<Task['budget']>) => [
  { label: t.task.spent.steps, most: maxSteps, show: count, used: ({ steps }: Usage) => steps },
  {
    label: t.task.spent.tokens,
    most: maxTokens,
    show: count,
    used: ({ inputTokens, outputTokens }: Usage) => inputTokens + outputTokens,
  },
  {
    label: t.task.spent.time,
    most: (maxDurationSeconds ?? 0) * 1000,
    show: duration,
    used: ({ durationMs }: Usage) => durationMs,
  },
  {
    label: t.task.spent.cost,
    most: Number(maxCost ?? 0),
    show: money,
    used: ({ cost }: Usage) => Number(cost?.amount ?? 0),
  },
];

interface MeterProps {
  label: string;
  used: number;
  most: number;
  show: (n: number) => string;
}

function Meter({ label, used, most, show }: MeterProps) {
  const share = Math.min(1, used / most);
  return (
    <div className={css.meter}>
      <div>
        <span>{label}</span>
        <span className="num">
          {show(used)} / {show(most)}
        </span>
      </div>
      <div
        className={css.track}
        role="meter"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share * 100}%` }} data-much={share > 0.8} />
      </div>
    </div>
  );
}
