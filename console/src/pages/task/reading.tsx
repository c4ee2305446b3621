import { t } from '../../texts/index.ts';
import { Failure, Skeleton } from '../../ui/ui.tsx';
import css from './task.module.css';

/** In place of what is read of a task: it comes, or it could not be read. */
export function Reading({ error }: { error: unknown }) {
  return (
    <div className={css.scroll}>
      <div className={css.wide}>{error ? <Failure error={error} /> : <Skeleton w="100%" h={260} />}</div>
    </div>
  );
}

/** In place of the conversation. */
export function Loading() {
  return (
    <div className={css.loading} aria-busy role="group" aria-label={t.common.loading}>
      <Skeleton w="100%" h={96} />
      <Skeleton w="62%" h={14} />
      <Skeleton w="84%" h={14} />
      <Skeleton w="100%" h={140} />
    </div>
  );
}
