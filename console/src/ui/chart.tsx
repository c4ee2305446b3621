// Stacked bars in plain SVG: a few dozen values need no library. The same numbers stand in a table for those who read or copy.
import { useEffect, useId, useRef, useState } from 'react';
import { t } from '../texts/index.ts';
import { count } from './format.ts';
import css from './chart.module.css';

interface Series {
  name: string;
  color: string;
  values: number[];
}
const H = 190;
const TOP = 10;
const BASE = H - 24;

function niceMax(value: number, whole: boolean): number {
  if (whole && value <= 4) return 4;
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

/** How wide it is: drawn to that measure, so that its letters stay as large as all others. */
function useWidth() {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(
      ([entry]) => entry && setWidth(Math.max(200, Math.round(entry.contentRect.width))),
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

export function Chart({
  title,
  labels,
  series,
  format = count,
}: {
  title: string;
  labels: string[];
  series: Series[];
  format?: (value: number) => string;
}) {
  const id = useId();
  const [ref, W] = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const totals = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const max = niceMax(Math.max(...totals, 0), totals.every(Number.isInteger));
  const marks = [0, 0.5, 1].map((share) => ({ at: max * share, text: format(max * share) }));
  // Room for the longest of them, at 6.6 pixels a letter.
  const left = 12 + 6.6 * Math.max(4, ...marks.map(({ text }) => text.length));
  const slot = (W - left) / labels.length;
  const bar = Math.min(34, slot * 0.62);
  const y = (value: number) => BASE - (value / max) * (BASE - TOP);
  const every = Math.ceil(labels.length / Math.max(2, Math.floor(W / 90)));
  return (
    <figure ref={ref} className={css.chart} aria-labelledby={id}>
      <figcaption id={id}>
        {title}
        <span className={css.legend}>
          {series.map(({ name, color, values }) => (
            <span key={name}>
              <i style={{ background: color }} />
              {name}
              <b>{format(at === null ? values.reduce((a, b) => a + b, 0) : (values[at] ?? 0))}</b>
            </span>
          ))}
          <span className={css.day}>{at === null ? t.chart.inAll : labels[at]}</span>
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} aria-hidden onPointerLeave={() => setAt(null)}>
        {marks.map(({ at: mark, text }) => (
          <g key={mark}>
            <line x1={left} x2={W} y1={y(mark)} y2={y(mark)} className={css.grid} />
            <text x={left - 8} y={y(mark) + 4} textAnchor="end" className={css.label}>
              {text}
            </text>
          </g>
        ))}
        {labels.map((label, index) => {
          let from = 0;
          const x = left + index * slot + (slot - bar) / 2;
          return (
            <g key={index} onPointerEnter={() => setAt(index)} opacity={at === null || at === index ? 1 : 0.45}>
              <rect x={left + index * slot} y={0} width={slot} height={H} fill="transparent" />
              {series.map(({ name, color, values }) => {
                const value = values[index] ?? 0;
                const height = y(from) - y(from + value);
                from += value;
                return (
                  height > 0 && (
                    <rect
                      key={name}
                      x={x}
                      y={y(from)}
                      width={bar}
                      height={Math.max(1.5, height)}
                      fill={color}
                      rx={Math.min(2, height / 2)}
                    />
                  )
                );
              })}
              {index % every === 0 && (
                <text x={x + bar / 2} y={H - 6} textAnchor="middle" className={css.label}>
                  {label}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <table className="sr">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t.chart.day}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, index) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{format(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
