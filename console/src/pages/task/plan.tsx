import { t } from '../../texts/index.ts';
import type { PlanItem } from './steps.ts';
import css from './tool.module.css';

const CIRCLES = {
  pending: { fill: 'none', stroke: 'var(--line-strong)' },
  in_progress: { fill: 'none', stroke: 'var(--blue)' },
  done: { fill: 'var(--green)', stroke: 'var(--green)' },
  dropped: { fill: 'none', stroke: 'var(--line-strong)' },
};

export function Plan({ items }: { items: PlanItem[] }) {
  return (
    <ul className={css.plan}>
      {items.map(({ text, status }, index) => (
        <li key={index} data-status={status}>
          <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden>
            <circle cx="8" cy="8" r="6.2" strokeWidth="1.6" {...(CIRCLES[status] ?? CIRCLES.pending)} />
            {status === 'done' && (
              <path
                d="m5.4 8.2 1.8 1.8 3.5-3.9"
                fill="none"
                stroke="var(--surface)"
                strokeWidth="1.6"
                strokeLinecap="round"
                strokeLinejoin="round"
              />
            )}
            {status === 'in_progress' && <circle cx="8" cy="8" r="2.6" fill="var(--blue)" />}
          </svg>
          <span>
            <span className="sr">{t.task.plan.status[status] ?? status}: </span>
            {text}
          </span>
        </li>
      ))}
    </ul>
  );
}
