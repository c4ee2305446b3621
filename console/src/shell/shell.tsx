import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { connection } from '../api/connection.ts';
import { everythingAnew, followWorkspace } from '../api/live.ts';
import { queryClient, waitingQuery } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { t } from '../texts/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Refused } from '../ui/nothing.tsx';
import { Button, cx, toastError } from '../ui/ui.tsx';
import { useCan, useContext } from './can.ts';
import { useNotifying } from './notifications.ts';
import { usePages } from './pages.ts';
import { Palette } from './palette.tsx';
import css from './shell.module.css';
import { ShortcutList, useShortcuts } from './shortcuts.tsx';
import { ThemeButton } from './theme.tsx';

export { css as page };

/** What stands around every page: navigation, who is signed in, whether the service answers. */
export function Shell({ children }: { children: ReactNode }) {
  const [location, navigate] = useLocation();
  const [open, setOpen] = useState(false);
  const [help, setHelp] = useState(false);
  const can = useCan();
  const [palette, setPalette] = useState(false);
  const links = usePages();
  useNotifying();
  const search = () => (setOpen(false), setPalette(true));
  const side = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [location]);
  useEffect(() => {
    // On narrow screens it lies above the page.
    if (!open) return;
    const before = document.activeElement;
    side.current?.querySelector<HTMLElement>('a, button')?.focus();
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setOpen(false);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('keydown', close);
      if (before instanceof HTMLElement && side.current?.contains(document.activeElement) === true) before.focus();
    };
  }, [open]);
  useEffect(() => {
    // A file that is dropped beside its place would be opened by the browser, and the page be gone.
    const refuse = (event: DragEvent) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    };
    addEventListener('dragover', refuse);
    addEventListener('drop', refuse);
    return () => (removeEventListener('dragover', refuse), removeEventListener('drop', refuse));
  }, []);
  useEffect(() => {
    const controller = new AbortController();
    if (can('tasks:read')) followWorkspace(controller.signal);
    const end = connection.onReturn(everythingAnew);
    // What was read for one person is not shown to the next.
    return () => (controller.abort(), end(), queryClient.clear());
  }, []);
  useShortcuts({
    c: () => can('tasks:write') && navigate('/new'),
    '?': () => setHelp(true),
    ...Object.fromEntries(links.map(({ name, keys }) => [keys, () => navigate(`/${name}`)])),
  });
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#main">
        {t.shell.skip}
      </a>
      <header className={css.bar}>
        <Button look="ghost" icon="Menu" aria-label={t.shell.menu} aria-expanded={open} onClick={() => setOpen(true)} />
        <strong>{t.common.product}</strong>
        <span className="grow" />
        <Button look="ghost" icon="Search" aria-label={t.palette.open} onClick={search} />
        {can('tasks:write') && (
          <Button look="ghost" icon="Plus" aria-label={t.shell.newTask} onClick={() => navigate('/new')} />
        )}
      </header>
      {open && <div className={css.scrim} onClick={() => setOpen(false)} />}
      <nav ref={side} className={css.side} data-open={open} aria-label={t.shell.navigation}>
        <Brand />
        {can('tasks:write') && (
          <Button className={css.new} look="primary" icon="Plus" keys="C" onClick={() => navigate('/new')}>
            {t.shell.newTask}
          </Button>
        )}
        <Button className={css.search} icon="Search" title={t.palette.open} keys="Ctrl K" onClick={search}>
          {t.palette.openShort}
        </Button>
        {links.map(({ name, icon }) => (
          <Link
            key={name}
            href={`/${name}`}
            className={css.link ?? ''}
            aria-current={location === `/${name}` || location.startsWith(`/${name}/`) ? 'page' : undefined}
          >
            <Icon name={icon} />
            {t.shell.pages[name]}
            {name === 'tasks' && <Waiting />}
          </Link>
        ))}
        <Foot showHelp={() => setHelp(true)} />
      </nav>
      <main className={css.main} id="main" tabIndex={-1}>
        <Offline />
        {children}
      </main>
      <Palette open={palette} setOpen={setPalette} showHelp={() => setHelp(true)} />
      <ShortcutList open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

function Brand() {
  const { workspace } = useContext();
  return (
    <div className={css.brand}>
      <img src="/console/favicon.svg" alt="" />
      <div className="grow">
        <strong className="ellipsis">{workspace.name}</strong>
        <span className="ellipsis">
          {workspace.role} · {workspace.slug}
        </span>
      </div>
    </div>
  );
}

function Waiting() {
  const { data = [] } = useQuery(waitingQuery);
  if (data.length === 0) return null;
  return (
    <span className={css.badge} title={t.shell.waiting}>
      <span aria-hidden>{data.length}</span>
      <span className="sr">{t.shell.waitingCount(data.length)}</span>
    </span>
  );
}

function Foot({ showHelp }: { showHelp: () => void }) {
  const { user } = useContext();
  return (
    <div className={css.foot}>
      <Link href="/settings" className={css.who ?? ''} title={t.shell.actsAs}>
        <span className={css.avatar} aria-hidden>
          {user.name.slice(0, 1).toUpperCase()}
        </span>
        <span className="ellipsis">{user.name}</span>
      </Link>
      <ThemeButton small />
      <Button
        small
        look="ghost"
        className={css.keyboard}
        icon="Keyboard"
        aria-label={t.shell.keyboard}
        title={`${t.shell.keyboard} (?)`}
        onClick={showHelp}
      />
      <Button
        small
        look="ghost"
        icon="LogOut"
        aria-label={t.shell.signOut}
        title={t.shell.signOut}
        onClick={() => void signOut().catch(toastError)}
      />
    </div>
  );
}

/** Said once, above everything, while the service does not answer; what was read before stays. */
function Offline() {
  const reachable = useStore(connection.reachable);
  if (reachable) return null;
  return (
    <div className={css.offline} role="status">
      <Icon name="Wifi" size={15} />
      <span>{t.shell.offline}</span>
      <span className="grow" />
      <Button small onClick={() => connection.ask()}>
        {t.shell.tryNow}
      </Button>
    </div>
  );
}

/** The title of a page, here and in the browser's tab. */
export function PageHead({ title, sub, children }: { title: string; sub?: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${t.common.product}`;
  }, [title]);
  return (
    <header className={css.head}>
      <h1>{title}</h1>
      {sub && <span className={css.sub}>{sub}</span>}
      <span className="grow" />
      {children}
    </header>
  );
}

/** A page that lies below its title in one column; `beside` stands beside the title. */
export const Page = ({
  beside,
  children,
  ...head
}: {
  title: string;
  sub?: ReactNode;
  beside?: ReactNode;
  children: ReactNode;
}) => (
  <>
    <PageHead {...head}>{beside}</PageHead>
    <Body>
      <div className={css.page}>{children}</div>
    </Body>
  </>
);

/** In place of a page that the key may not see. */
export const RefusedPage = ({ title, scope }: { title: string; scope: string }) => (
  <>
    <PageHead title={title} />
    <Refused scope={scope} />
  </>
);

export const Body = ({ className, ...props }: ComponentProps<'div'>) => (
  <div className={cx(css.body, className)} tabIndex={0} role="group" aria-label={t.shell.content} {...props} />
);
