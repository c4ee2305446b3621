import type { PullRequest as Shown } from '../api/client.ts';
import { t } from '../texts/index.ts';
import { Icon } from './icon.tsx';
import css from './pull-request.module.css';

/** Its number and how it stands; a link only when it leads to a page. `named` says the state in words. */
export function PullRequest({ url, state, named = false }: Shown & { named?: boolean }) {
  const number = /\d+(?=\/?$)/.exec(url)?.[0];
  const is = state == null ? '' : t.common.pullRequestIs[state];
  const label = `${t.common.pullRequest}${number === undefined ? '' : ` ${number}`}`;
  const shown = (
    <>
      <Icon name="PullRequest" size={13} />
      <span className="sr">{label}</span>
      {number !== undefined && <span aria-hidden>#{number}</span>}
      {is !== '' && <span className={named ? undefined : 'sr'}> {is}</span>}
    </>
  );
  const title = is === '' ? label : `${label}, ${is}`;
  if (!/^https?:/i.test(url)) return <span title={title}>{shown}</span>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer noopener"
      className={css.link}
      data-state={state ?? undefined}
      title={title}
    >
      {shown}
    </a>
  );
}
