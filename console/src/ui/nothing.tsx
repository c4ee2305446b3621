// What a page shows in place of its content.
import type { ReactNode } from 'react';
import { t } from '../texts/index.ts';
import { Empty, Failure, Skeleton } from './ui.tsx';

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

/** It is being read, or it could not be. */
export const NothingYet = ({ error, refetch, h }: { error: unknown; refetch: () => unknown; h: number }) =>
  error === null ? <Skeleton w="100%" h={h} /> : <Failure error={error} retry={() => void refetch()} />;
