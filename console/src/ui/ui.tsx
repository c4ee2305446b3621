// The small parts that pages are made of.
import { type ComponentProps, type ReactNode, useLayoutEffect, useRef } from 'react';
import { ConnectionError, MillwrightError, type TaskStatus } from '../api/client.ts';
import { Store, useStore } from '../api/store.ts';
import { t } from '../texts/index.ts';
import { Icon, type IconName } from './icon.tsx';
import css from './ui.module.css';

export { css as ui };

export const cx = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ');

/** The `ref` of what is chosen in a row that may be wider than a phone. */
export const intoView = (element: Element | null) => element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

type Look = 'plain' | 'primary' | 'danger' | 'ghost';

export function Button({
  look = 'plain',
  small,
  icon,
  keys,
  children,
  className,
  ...props
}: ComponentProps<'button'> & { look?: Look; small?: boolean; icon?: IconName; keys?: string }) {
  return (
    <button
      type="button"
      className={cx(
        css.button,
        look !== 'plain' && css[look],
        small && css.small,
        children === undefined && css.icon,
        className,
      )}
      {...props}
    >
      {icon && <Icon name={icon} size={small ? 14 : 15} />}
      {children}
      {keys && <Kbd>{keys}</Kbd>}
    </button>
  );
}

/** Copies a text; without words of its own it is an icon. */
export const CopyButton = ({ text, ...props }: ComponentProps<typeof Button> & { text: string }) => (
  <Button small look="ghost" icon="Copy" onClick={() => void copy(text)} {...props} />
);

export const Kbd = ({ children }: { children: ReactNode }) => (
  <kbd className={css.kbd} aria-hidden>
    {children}
  </kbd>
);

const STATUS: Record<TaskStatus, { color: string; soft: string }> = {
  queued: { color: 'var(--faint)', soft: 'var(--active)' },
  running: { color: 'var(--blue)', soft: 'var(--blue-soft)' },
  awaiting_input: { color: 'var(--amber)', soft: 'var(--amber-soft)' },
  completed: { color: 'var(--green)', soft: 'var(--green-soft)' },
  failed: { color: 'var(--red)', soft: 'var(--red-soft)' },
  cancelled: { color: 'var(--faint)', soft: 'var(--active)' },
};

/** Shape and colour say the same, for those who do not see one of them. */
export function StatusDot({ status, size = 15 }: { status: TaskStatus; size?: number }) {
  const { color } = STATUS[status];
  const common = {
    fill: 'none',
    stroke: color,
    strokeWidth: 1.6,
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
  } as const;
  return (
    <svg className={css.dot} width={size} height={size} viewBox="0 0 16 16" aria-hidden>
      {status === 'queued' && <circle cx="8" cy="8" r="6" {...common} strokeDasharray="1.9 2.81" />}
      {status === 'running' && (
        <>
          <circle cx="8" cy="8" r="6" {...common} opacity=".25" />
          <path className={css.spin} d="M8 2a6 6 0 0 1 6 6" {...common} />
        </>
      )}
      {status === 'awaiting_input' && (
        <>
          <circle cx="8" cy="8" r="7" fill={color} />
          <path
            d="M6.3 6.4a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.8.6-.8 1.1M8 11.4v.01"
            {...common}
            stroke="var(--surface)"
            strokeWidth={1.5}
          />
        </>
      )}
      {status === 'completed' && (
        <>
          <circle cx="8" cy="8" r="7" fill={color} />
          <path d="m5.2 8.2 2 2 3.8-4.2" {...common} stroke="var(--surface)" />
        </>
      )}
      {status === 'failed' && (
        <>
          <circle cx="8" cy="8" r="7" fill={color} />
          <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" {...common} stroke="var(--surface)" />
        </>
      )}
      {status === 'cancelled' && (
        <>
          <circle cx="8" cy="8" r="6.2" {...common} />
          <path d="m4 12 8-8" {...common} />
        </>
      )}
    </svg>
  );
}

export function StatusLabel({ status, pill }: { status: TaskStatus; pill?: boolean }) {
  const { color, soft } = STATUS[status];
  return (
    <span className={cx(css.status, pill && css.pill)} style={{ color, ...(pill && { background: soft }) }}>
      <StatusDot status={status} size={pill ? 13 : 15} />
      {t.common.status[status]}
    </span>
  );
}

export function Empty({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className={css.empty}>
      <Icon name={icon} size={26} strokeWidth={1.4} />
      <strong>{title}</strong>
      {children && <p>{children}</p>}
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

/** The service's own sentence; for what never reached it, ours. */
export function saidBy(error: unknown): string {
  if (error instanceof ConnectionError) return t.common.unreachable;
  return error instanceof Error ? error.message : String(error);
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const failure = error instanceof MillwrightError ? error : null;
  return (
    <div className={css.alert} role="alert">
      <Icon name="Alert" size={15} />
      <div className="grow">
        {saidBy(error)}
        {failure?.requestId && (
          <div>
            <code>{t.common.request(failure.requestId)}</code>
          </div>
        )}
      </div>
      {retry && (
        <Button small onClick={retry}>
          {t.common.tryAgain}
        </Button>
      )}
    </div>
  );
}

export const Warning = ({ children }: { children: ReactNode }) => (
  <div className={cx(css.alert, css.warn)} role="status">
    <Icon name="Alert" size={15} />
    <div className="grow">{children}</div>
  </div>
);

export const Skeleton = ({ w, h = 12 }: { w: number | string; h?: number }) => (
  <div className={css.skeleton} style={{ width: w, height: h }} />
);

export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: { value: T; label: ReactNode; title?: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div className={css.segmented} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          title={option.title}
          aria-label={option.title}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

/** The browser's own dialog: focus, Escape and what lies behind are its business, and it injects no style. */
export function Dialog({
  open,
  onClose,
  title,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  // A text may be selected with a move that ends outside.
  const pressed = useRef<EventTarget | null>(null);
  // Before it leaves the page, too: a dialog that is closed gives the focus back to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!open || dialog === null) return;
    dialog.showModal();
    return () => dialog.close();
  }, [open]);
  return (
    <dialog
      ref={ref}
      className={css.dialog}
      onClose={onClose}
      aria-label={title}
      onPointerDown={(event) => (pressed.current = event.target)}
      onClick={({ target }) => target === ref.current && pressed.current === target && onClose()}
    >
      {open && (
        <div className={css.dialogBody}>
          <h2>{title}</h2>
          {children}
        </div>
      )}
    </dialog>
  );
}

const toasts = new Store<{ id: number; text: string; bad: boolean }[]>([]);

export function toast(text: string, bad = false) {
  const id = Date.now() + Math.random();
  toasts.set([...toasts.value.slice(-3), { id, text, bad }]);
  setTimeout(() => toasts.set(toasts.value.filter((one) => one.id !== id)), bad ? 8000 : 3500);
}
export const toastError = (error: unknown) => toast(saidBy(error), true);

export function Toasts() {
  const list = useStore(toasts);
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {list.map(({ id, text, bad }) => (
        <div key={id} className={css.toast}>
          <Icon
            name={bad ? 'Alert' : 'Check'}
            size={15}
            style={{ color: bad ? 'var(--red)' : 'var(--green)', flex: 'none' }}
          />
          {text}
        </div>
      ))}
    </div>
  );
}

/** Only a secure context has the clipboard; a selection that is copied works everywhere. */
export async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast(t.common.copied);
}
