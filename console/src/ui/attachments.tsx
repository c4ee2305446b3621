// Files that are sent along: chosen, dropped or pasted. Each is uploaded at once, so that sending does not wait for it.
import { type ClipboardEvent, type ComponentProps, type DragEvent, useEffect, useRef, useState } from 'react';
import { ConnectionError } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { upload } from '../api/upload.ts';
import { t } from '../texts/index.ts';
import { bytes } from './format.ts';
import { Icon } from './icon.tsx';
import { Button, cx, saidBy, toast } from './ui.tsx';
import css from './attachments.module.css';

/** An upload that is done: what is kept of it in a draft. */
export interface KeptUpload {
  uploadId: string;
  name: string;
  /** Bytes. */
  size: number;
  /** ISO 8601: afterwards the service does not know it. */
  expiresAt: string;
}

interface Attachment {
  key: string;
  name: string;
  size: number;
  /** The part that is sent, 0 to 1. */
  share: number;
  done: KeptUpload | null;
  error: unknown;
  /** Null when it was uploaded before this page was opened. */
  file: File | null;
}

/** The service takes so many with one message. */
const MOST = 20;

/** `kept`: the uploads of a draft. */
export function useAttachments(kept: readonly KeptUpload[] = []) {
  const [list, setList] = useState<Attachment[]>(() => kept.filter(lasts).map(ofKept));
  const current = useRef(list);
  current.current = list;
  const stops = useRef(new Map<string, AbortController>());
  const change = (key: string, values: Partial<Attachment>) =>
    setList((old) => old.map((one) => (one.key === key ? { ...one, ...values } : one)));

  const send = (key: string, file: File) => {
    const stop = new AbortController();
    stops.current.set(key, stop);
    upload(file, (share) => change(key, { share }), stop.signal).then(
      ({ id, name, size, expiresAt }) =>
        change(key, { done: { uploadId: id, name, size, expiresAt }, name, size, share: 1 }),
      (error: unknown) => !stop.signal.aborted && change(key, { error }),
    );
  };
  const retry = ({ key, file }: Attachment) => {
    if (file === null) return;
    change(key, { error: null, share: 0 });
    send(key, file);
  };
  useEffect(() => {
    // What failed because the service was away is sent again when it is back.
    const end = connection.onReturn(() => {
      for (const one of current.current) if (one.error instanceof ConnectionError) retry(one);
    });
    const all = stops.current;
    return () => {
      end();
      if (current.current.some(({ done, error }) => done === null && error === null))
        toast(t.attachments.stopped, true);
      all.forEach((stop) => stop.abort());
    };
  }, []);

  return {
    list,
    retry,
    add: (files: readonly File[]): void => {
      const room = Math.max(0, MOST - current.current.length);
      if (files.length > room) toast(t.attachments.most(MOST), true);
      const added = files
        .slice(0, room)
        .map((file) => ({ ...fresh, key: newKey(), name: file.name, size: file.size, file }));
      setList((old) => [...old, ...added]);
      for (const { key, file } of added) send(key, file);
    },
    remove: (key: string): void => {
      stops.current.get(key)?.abort();
      setList((old) => old.filter((one) => one.key !== key));
    },
    clear: (): void => setList([]),
    /** Those that were sent; what was added meanwhile stays. */
    forget: (uploadIds: readonly string[]): void =>
      setList((old) => old.filter(({ done }) => done === null || !uploadIds.includes(done.uploadId))),
    /** Whether one is still on its way. */
    busy: list.some(({ done, error }) => done === null && error === null),
    failed: list.some(({ error }) => error !== null),
    /** Those that are uploaded, in order. */
    kept: list.flatMap(({ done }) => (done === null ? [] : [done])),
  };
}
export type Attachments = ReturnType<typeof useAttachments>;

const fresh = { share: 0, done: null, error: null };
const ofKept = (done: KeptUpload): Attachment => ({
  key: newKey(), name: done.name, size: done.size, share: 1, done, error: null, file: null,
}); // prettier-ignore
/** An hour is left to send it. */
const lasts = ({ expiresAt }: KeptUpload) => Date.parse(expiresAt) > Date.now() + 3_600_000;
const newKey = () => crypto.getRandomValues(new Uint32Array(2)).join('-');

/** Handlers of an element that accepts dropped files. */
export function useFileDrop(take: (dropped: DataTransfer) => void, active: boolean) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const accepts = (event: DragEvent) => active && event.dataTransfer.types.includes('Files');
  const handlers = {
    onDragEnter: (event: DragEvent) => accepts(event) && (depth.current++, setOver(true)),
    onDragLeave: (event: DragEvent) => accepts(event) && --depth.current <= 0 && setOver(false),
    onDragOver: (event: DragEvent) => accepts(event) && event.preventDefault(),
    onDrop: (event: DragEvent) => {
      if (!accepts(event)) return;
      event.preventDefault();
      depth.current = 0;
      setOver(false);
      take(event.dataTransfer);
    },
  };
  return { over, handlers };
}

/** Pasted ones too. */
export function useDrop({ add }: Pick<Attachments, 'add'>, active = true) {
  const { over, handlers } = useFileDrop((dropped) => add(withoutFolders(dropped)), active);
  const onPaste = (event: ClipboardEvent) => {
    if (!active || event.clipboardData.files.length === 0) return;
    event.preventDefault();
    add([...event.clipboardData.files]);
  };
  return { over, handlers: { ...handlers, onPaste } };
}

/** A folder comes as a file that cannot be read. */
function withoutFolders({ items, files }: DataTransfer): File[] {
  const folders = new Set<string>();
  for (const item of items) {
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null;
    if (entry?.isDirectory === true) folders.add(entry.name);
  }
  for (const name of folders) toast(t.attachments.folder(name), true);
  return [...files].filter(({ name }) => !folders.has(name));
}

export const AttachButton = ({ add }: Pick<Attachments, 'add'>) => (
  <FileButton
    look="ghost"
    icon="Paperclip"
    aria-label={t.attachments.attach}
    title={t.attachments.attachTitle}
    chosen={t.attachments.chosen}
    add={add}
  />
);

/** Lets files be chosen; `chosen` names the field of the browser behind it. */
export function FileButton({
  add,
  chosen,
  ...button
}: ComponentProps<typeof Button> & Pick<Attachments, 'add'> & { chosen?: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button small {...button} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={chosen}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          // The same file may be chosen again.
          target.value = '';
        }}
      />
    </>
  );
}

/** `wrong`: the index, among those that are uploaded, that the service refuses. */
export function AttachmentList({ list, retry, remove, wrong = -1 }: Attachments & { wrong?: number }) {
  if (list.length === 0) return null;
  const refused = list.filter(({ done }) => done !== null)[wrong];
  return (
    <ul className={css.list} aria-label={t.attachments.list}>
      {list.map((one) => {
        const { key, name, size, share, done, error, file } = one;
        const bad = error !== null || one === refused;
        return (
          <li
            key={key}
            className={cx(css.item, bad && css.bad)}
            title={error === null ? name : `${name}: ${saidBy(error)}`}
          >
            <Icon name={bad ? 'Alert' : 'FileText'} size={14} />
            <span className="ellipsis">{name}</span>
            <span className={css.size}>
              {error !== null ? saidBy(error) : done !== null ? bytes(size) : t.attachments.sent(share)}
            </span>
            {error !== null && file !== null && (
              <button type="button" aria-label={t.attachments.retry(name)} onClick={() => retry(one)}>
                <Icon name="Refresh" size={13} />
              </button>
            )}
            <button type="button" aria-label={t.attachments.remove(name)} onClick={() => remove(key)}>
              <Icon name="X" size={13} />
            </button>
            {done === null && error === null && <span className={css.progress} style={{ width: `${share * 100}%` }} />}
          </li>
        );
      })}
    </ul>
  );
}
