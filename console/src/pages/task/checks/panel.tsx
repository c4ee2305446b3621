// What the service found out by itself, above the box to write in: the last round of checks, and the earlier ones when they are asked for.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { checksOf, checksQuery } from '../../../api/check-queries.ts';
import type { Task } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Button, Failure } from '../../../ui/ui.tsx';
import { Check } from './check.tsx';
import { Foot } from './foot.tsx';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';
import { RunningCheck } from './running.tsx';
import { type Pair, pairsOf, type Round, roundsOf } from './rounds.ts';
import { useChecksState } from './state.ts';

/** Below this height there is room for the conversation, or for this. */
const LOW = '(max-height: 560px)';

/** @param aside something more urgent is beside it: only its head is shown by itself. */
export default function ChecksPanel({ task, aside }: { task: Task; aside: boolean }) {
  const state = useChecksState(task);
  const query = useInfiniteQuery(checksQuery(task.id));
  const [chosen, setChosen] = useState<boolean | null>(null);
  const texts = t.checksPanel;
  if (state === null) return null;
  const { look, words, log } = state;
  const checks = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const rounds = roundsOf(checks);
  const { status, passed, failed } = checksOf(task);
  // Before the first of a round has ended, the newest that are known are those of an earlier one.
  const begins = status === 'pending' || (status === 'running' && passed + failed === 0);
  const last = begins ? undefined : rounds[0];
  const earlier = begins ? rounds : rounds.slice(1);
  const pairs = pairsOf(checks, log, last, status !== 'pending' && status !== 'running');
  const wanted = () => {
    if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
  };
  const open = chosen ?? (!aside && !matchMedia(LOW).matches);
  const hidden = checks.some(({ output }) => output === null);
  return (
    <section className={css.panel} aria-label={t.checks.title}>
      <button type="button" className={css.head} aria-expanded={open} onClick={() => setChosen(!open)}>
        <CheckMark look={look} />
        <strong>{t.checks.title}</strong>
        <span className="ellipsis">{words}</span>
        <span className="grow" />
        <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={13} />
      </button>
      {open && (
        <div className={css.scroll} data-scrollable tabIndex={0} role="group" aria-label={t.checks.title}>
          {query.error !== null && <Failure error={query.error} retry={() => void query.refetch()} />}
          <ul className={css.list} aria-label={texts.last}>
            {pairs.map((pair) => (
              <Row key={pair.name} {...pair} wanted={wanted} />
            ))}
          </ul>
          {hidden && <p className={css.note}>{texts.hidden}</p>}
          <Foot task={task} />
          {earlier.length > 0 && <Earlier rounds={earlier} query={query} />}
        </div>
      )}
    </section>
  );
}

/** It stays unfolded when it ends. */
function Row({ running, ...pair }: Pair & { wanted?: () => void }) {
  const [open, setOpen] = useState(false);
  const unfolding = { open, onToggle: setOpen };
  return (
    <li aria-label={pair.name}>
      {running === undefined ? (
        <Check {...pair} {...unfolding} />
      ) : (
        <RunningCheck check={running} was={pair.was} {...unfolding} />
      )}
    </li>
  );
}

interface EarlierProps {
  rounds: Round[];
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

function Earlier({ rounds, query }: EarlierProps) {
  const [open, setOpen] = useState(false);
  const texts = t.checksPanel;
  return (
    <details className={css.earlier} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.earlier}</summary>
      {open &&
        rounds.map(({ key, turn, round, checks }) => (
          <section key={key} aria-label={texts.round(turn, round)}>
            <h3>{texts.round(turn, round)}</h3>
            <ul className={css.list}>
              {checks.map((check) => (
                <Row key={check.id} name={check.name} after={check} is={check.status} />
              ))}
            </ul>
          </section>
        ))}
      {open && query.hasNextPage && (
        <Button small disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t.common.loadMore}
        </Button>
      )}
    </details>
  );
}
