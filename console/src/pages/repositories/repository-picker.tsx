// Which repository, and which branch of it: for every form that begins a task.
import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { branchesQuery, placeOf, repositoriesQuery, repositoryQuery } from '../../api/repository-queries.ts';
import type { Repository } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { useLater } from '../../shell/later.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { type Choosable, Combobox } from '../../ui/combobox.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Button, saidBy, toastError } from '../../ui/ui.tsx';
import { isAddress } from './repository-draft.ts';
import css from './repositories.module.css';

interface Picks {
  value: string;
  said: string | null;
  onChange: (value: string) => void;
}

export function RepositoryPicker({ value, said, hint, onChange }: Picks & { hint?: ReactNode }) {
  const texts = t.repositories;
  const reads = useCan()('projects:read');
  const [text, setText] = useState('');
  // An address is no word to search for.
  const q = useLater(isAddress(text) ? '' : text);
  const list = useQuery({ ...repositoriesQuery(q), enabled: reads });
  const refresh = useMutation({
    mutationFn: () => queryClient.fetchQuery({ ...repositoriesQuery(q, true), staleTime: 0 }),
    onError: toastError,
  });
  const place = placeOf(value);
  const options = isAddress(text) ? [] : (list.data?.items ?? []).map(optionOf);
  const nothing = q === '' ? texts.none : texts.nothing(q);
  return (
    <Combobox
      label={texts.repository}
      hint={hint ?? texts.repositoryHint}
      said={said}
      icon="Branch"
      placeholder={texts.repositoryPlaceholder}
      value={value}
      shown={place?.path ?? value}
      {...(place !== null && { beside: place.host })}
      options={options}
      busy={list.isFetching}
      foot={
        reads && !isAddress(text) ? (
          <Foot list={list} refresh={refresh} nothing={nothing} some={texts.count} />
        ) : undefined
      }
      onChange={(next) => {
        const row = list.data?.items.find(({ url }) => url === next);
        if (row !== undefined) queryClient.setQueryData(repositoryQuery(next).queryKey, { row, partial: false });
        onChange(next);
      }}
      onSearch={setText}
    />
  );
}

function optionOf({ url, name, private: isPrivate, pushable, pushedAt }: Repository): Choosable {
  const texts = t.repositories;
  const host = placeOf(url)?.host;
  return {
    value: url,
    name,
    row: (
      <>
        <Icon name={isPrivate === true ? 'Lock' : 'Branch'} size={14} />
        <span className="ellipsis grow">
          {name}
          <small className={css.host}>{host}</small>
        </span>
        {!pushable && <small>{texts.readsOnly}</small>}
        {isPrivate === true && <small className={css.mark}>{texts.private}</small>}
        {pushedAt !== null && (
          <small className={css.when}>
            <Ago at={pushedAt} />
          </small>
        )}
      </>
    ),
  };
}

/** `url`: of the repository, which may be one that the service does not list. */
export function BranchPicker({ url, label, hint, placeholder, value, said, onChange }: BranchProps) {
  const texts = t.repositories;
  const asks = useCan()('projects:read') && placeOf(url) !== null;
  const [text, setText] = useState('');
  const q = useLater(text);
  const list = useQuery({ ...branchesQuery(url, q), enabled: asks });
  const refresh = useMutation({
    mutationFn: () => queryClient.fetchQuery({ ...branchesQuery(url, q, true), staleTime: 0 }),
    onError: toastError,
  });
  const branches = list.data?.items ?? [];
  const first = useQuery({ ...branchesQuery(url, ''), enabled: asks }).data?.items.find((one) => one.default);
  return (
    <Combobox
      label={label ?? texts.branch}
      hint={hint ?? texts.branchHint}
      said={said}
      icon="Branch"
      placeholder={placeholder ?? texts.branchPlaceholder(first?.name ?? null)}
      value={value}
      options={branches.map(({ name, commit, default: isDefault }) => ({
        value: name,
        name,
        row: (
          <>
            <span className="ellipsis grow">{name}</span>
            {isDefault && <small className={css.mark}>{texts.default}</small>}
            <small className="mono">{commit.slice(0, 7)}</small>
          </>
        ),
      }))}
      busy={list.isFetching}
      foot={
        asks ? (
          <Foot
            list={list}
            refresh={refresh}
            nothing={q === '' ? texts.noBranch : texts.noSuchBranch(q)}
            some={texts.branches}
          />
        ) : undefined
      }
      onChange={onChange}
      onSearch={setText}
    />
  );
}
type BranchProps = Picks & { url: string; label?: string; hint?: string; placeholder?: string };

interface Page {
  items: unknown[];
  nextCursor: string | null;
  partial?: boolean;
}

/** What is to be known of a list: how it stands, whether there is more, and how to ask the host again. */
function Foot({
  list: { data, error, isFetching },
  refresh,
  nothing,
  some,
}: {
  list: UseQueryResult<Page>;
  refresh: { mutate: () => void; isPending: boolean };
  nothing: string;
  some: (n: number) => string;
}) {
  const texts = t.repositories;
  const busy = refresh.isPending || isFetching;
  const n = data?.items.length ?? 0;
  const says = () => {
    if (error !== null) return saidBy(error);
    if (data === undefined) return t.common.loading;
    if (data.partial === true) return texts.partial;
    if (n === 0) return busy ? t.common.loading : nothing;
    return data.nextCursor === null ? some(n) : texts.first(n);
  };
  return (
    <>
      <span>{says()}</span>
      {(data !== undefined || error !== null) && (
        <Button small look="ghost" icon="Refresh" disabled={busy} onClick={() => refresh.mutate()}>
          {busy ? texts.refreshing : texts.refresh}
        </Button>
      )}
    </>
  );
}
