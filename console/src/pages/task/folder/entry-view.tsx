import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isGone } from '../../../api/client.ts';
import { contentQuery, downloadEntry, entriesQuery, type Place } from '../../../api/folder-queries.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { exactly } from '../../../ui/code.tsx';
import { bytes } from '../../../ui/format.ts';
import { Button, cx, Failure, Skeleton } from '../../../ui/ui.tsx';
import { kindOf, TextOf, VIEW_MOST } from '../file-kinds.tsx';
import { Shown } from '../files.tsx';
import css from './folder.module.css';
import { nameOf, parentOf, ROOTS } from './paths.ts';

/** Of what is chosen: a file is shown, or offered for download. A link to a path may name what is not there. */
export function EntryView({ place, close }: { place: Place; close: () => void }) {
  const folder = parentOf(place.path);
  const { data, error, hasNextPage } = useInfiniteQuery({
    ...entriesQuery({ ...place, path: folder ?? '' }),
    enabled: folder !== null,
  });
  if (folder === null) return <Choose />;
  if (isGone(error)) return <Nothing>{t.folder.noPath}</Nothing>;
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Skeleton w="100%" h={120} />;
  const path = fromWorkdir(place.path);
  const entry = data.pages.flatMap(({ items }) => items).find((one) => one.path === path);
  if (entry?.kind === 'folder') return <Choose />;
  // It may stand on a page that is not read yet.
  if (entry === undefined && !hasNextPage) return <Nothing>{t.folder.noPath}</Nothing>;
  const name = nameOf(path);
  return (
    <section className={css.view} aria-label={t.folder.viewerOf(exactly(path))}>
      <header>
        <Button small look="ghost" className={css.back} icon="ChevronLeft" aria-label={t.folder.back} onClick={close} />
        <strong className="ellipsis" title={exactly(path)}>
          {exactly(name)}
        </strong>
        {entry && (
          <span className={css.dim}>
            {entry.kind === 'file' && `${bytes(entry.size)} · `}
            {t.folder.changed} <Ago at={entry.modifiedAt} />
          </span>
        )}
        <span className="grow" />
        {entry?.kind !== 'link' && (
          <Button
            small
            icon="Download"
            aria-label={t.task.files.downloadOf(exactly(name))}
            onClick={() => downloadEntry(place, name)}
          >
            {t.task.files.download}
          </Button>
        )}
      </header>
      <div className={css.content} tabIndex={0} role="group" aria-label={exactly(name)}>
        {entry?.kind === 'link' ? <p>{t.folder.link}</p> : <Content place={place} name={name} />}
      </div>
    </section>
  );
}

const Choose = () => <p className={cx(css.nothing, css.choose)}>{t.folder.choose}</p>;
const Nothing = ({ children }: { children: ReactNode }) => <p className={css.nothing}>{children}</p>;

/** As entries have it, also when a link of somebody says it in full. */
const fromWorkdir = (path: string): string =>
  path.startsWith(`${ROOTS[0]}/`) ? path.slice(ROOTS[0].length + 1) : path;

function Content({ place, name }: { place: Place; name: string }) {
  const { data, error, refetch } = useQuery(contentQuery(place, (response) => read(response, name)));
  if (isGone(error)) return <p>{t.folder.noPath}</p>;
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeleton w="100%" h={120} />;
  if (data.kind === null) return <p>{t.folder.notShown}</p>;
  if (data.kind === 'image') return <Shown name={name} mediaType={data.mediaType} bytes={data.blob} />;
  if (data.text === '') return <p>{t.folder.emptyFile}</p>;
  return <TextOf kind={data.kind} name={name} text={data.text} id="folder" />;
}

type Read =
  | { kind: null }
  | { kind: 'image'; blob: Blob; mediaType: string }
  | { kind: Exclude<NonNullable<ReturnType<typeof kindOf>>, 'image'>; text: string };

/** Bytes up to which a picture is shown. */
const PICTURE_MOST = 20_000_000;

/** The service names no type of most files in a folder: of a picture its name says it, and whether the others are text, their bytes. */
async function read(response: Response, name: string): Promise<Read> {
  const size = Number(response.headers.get('Content-Length') ?? Infinity);
  const picture = /\.(png|jpe?g|gif|webp|avif)$/i.exec(name)?.[1]?.toLowerCase().replace('jpg', 'jpeg');
  const mediaType = picture ? `image/${picture}` : (response.headers.get('Content-Type') ?? '');
  const kind = kindOf({ name, mediaType, size });
  if (size > (kind === 'image' ? PICTURE_MOST : VIEW_MOST)) {
    await response.body?.cancel();
    return { kind: null };
  }
  const blob = await response.blob();
  if (kind === 'image') return { kind, blob, mediaType };
  const text = textOf(await blob.arrayBuffer(), kind === null);
  return text === null ? { kind: null } : { kind: kind ?? 'text', text };
}

/** `strict`: null when these are not the bytes of a text. */
function textOf(data: ArrayBuffer, strict: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: strict }).decode(data);
    return strict && text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
