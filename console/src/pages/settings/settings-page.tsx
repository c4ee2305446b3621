import { Suspense } from 'react';
import { Link } from 'wouter';
import { program } from '../../shell/program.ts';
import { Body, page as css, PageHead } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { cx, intoView, Skeleton, ui } from '../../ui/ui.tsx';
import { Keys } from './keys.tsx';
import { Limits } from './limits.tsx';
import { Members } from './members.tsx';
import { Models } from './models.tsx';
import { Notifications } from './notifications.tsx';
import { Preferences } from './preferences.tsx';
import { Services } from './services.tsx';
import { Session } from './session.tsx';
import own from './settings.module.css';

const OwnNotices = program(() => import('./notices/notices.tsx'));
const Repositories = program(() => import('./repositories/repositories.tsx'));
const Environments = program(() => import('./environments/environments.tsx'));
const Secrets = program(() => import('./secrets/secrets.tsx'));
const Skills = program(() => import('./skills/skills.tsx'));

const Notices = () => (
  <>
    <OwnNotices />
    <Notifications />
  </>
);

const PARTS = {
  session: Session,
  keys: Keys,
  members: Members,
  services: Services,
  repositories: Repositories,
  environments: Environments,
  secrets: Secrets,
  skills: Skills,
  models: Models,
  notices: Notices,
  preferences: Preferences,
  limits: Limits,
};
type Part = keyof typeof PARTS;
const NAMES = Object.keys(PARTS) as Part[];

export default function SettingsPage() {
  const [asked] = useParam<Part>('part', 'session');
  const part = NAMES.includes(asked) ? asked : 'session';
  const Shown = PARTS[part];
  return (
    <>
      <PageHead title={t.settings.title} />
      <nav className={own.parts} aria-label={t.settings.parts}>
        {NAMES.map((name) => (
          <Link
            key={name}
            ref={name === part ? intoView : undefined}
            href={name === 'session' ? '/settings' : `/settings?part=${name}`}
            className={cx(ui.tab)}
            aria-current={name === part ? 'page' : undefined}
          >
            {t.settings.part[name]}
          </Link>
        ))}
      </nav>
      <Body>
        <div className={css.page}>
          <Suspense fallback={<Skeleton w="100%" h={160} />}>
            <Shown />
          </Suspense>
        </div>
      </Body>
    </>
  );
}
