import type { ReactNode } from 'react';

/** A line of the details. */
export function Fact({ name, title, children }: { name: string; title?: string; children: ReactNode }) {
  return (
    <>
      <dt className="ellipsis">{name}</dt>
      <dd title={title}>{children}</dd>
    </>
  );
}
