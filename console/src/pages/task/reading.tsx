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
