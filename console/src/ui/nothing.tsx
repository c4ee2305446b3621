// What a page shows in place of its content.
import type { ReactNode } from 'react';
import { t } from '../texts/index.ts';
import { Empty } from './ui.tsx';

/** The key has no such scope. */
export const Refused = ({ scope }: { scope: string }) => (
  <Empty icon="Shield" title={t.common.refused.title}>
    {t.common.refused.text(scope)}
  </Empty>
);

/** The address leads to nothing; the actions lead back. */
export const NothingHere = ({ actions }: { actions?: ReactNode }) => (
  <Empty icon="Search" title={t.common.gone.title} actions={actions}>
    {t.common.gone.text}
  </Empty>
);
