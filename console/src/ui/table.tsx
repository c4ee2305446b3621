// Figures in rows, the first column their name. It scrolls by itself where it is too wide.
import type { ReactNode } from 'react';
import css from './table.module.css';
import { cx } from './ui.tsx';

export { css as table };

export function Table({
  label,
  head,
  foot,
  children,
}: {
  label: string;
  head: ReactNode[];
  foot?: ReactNode[];
  children: ReactNode;
}) {
  return (
    <div className={cx(css.scroll, 'box')} tabIndex={0} role="group" aria-label={label}>
      <table className={css.table}>
        <caption className="sr">{label}</caption>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
        {foot && (
          <tfoot>
            <tr>
              {foot.map((cell, index) =>
                index === 0 ? (
                  <th key={index} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={index}>{cell}</td>
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
