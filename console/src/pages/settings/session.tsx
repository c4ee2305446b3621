import { Link } from 'wouter';
import type { AuthContext } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { signOut } from '../../api/session.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { ago, fullTime } from '../../ui/format.ts';
import { Button, toastError, Warning } from '../../ui/ui.tsx';
import { isInvited } from './invited.ts';
import { ALL_SCOPES } from './scopes.ts';
import { Section } from './section.tsx';
import own from './settings.module.css';

const SOON_MS = 7 * 86_400_000;

const endsSoon = (at: string | null): at is string => at !== null && new Date(at).getTime() - Date.now() < SOON_MS;

/** Who is signed in, by what, and what that may do. */
export function Session() {
  const context = useContext();
  const { user, workspace, credential, credentialType } = context;
  const { session: texts } = t.settings;
  return (
    <>
      {isInvited(context) && (
        <Warning>
          {texts.invited}
          <Link href="/settings?part=keys">{texts.invitedLink}</Link>.
        </Warning>
      )}
      {endsSoon(credential.expiresAt) && <Warning>{texts.soon(ago(credential.expiresAt))}</Warning>}
      <Section {...texts.who}>
        <dl className={own.facts}>
          <dt>{texts.person}</dt>
          <dd>
            {user.name} <small>{credentialType === 'service' ? texts.service : user.email}</small>
          </dd>
          <dt>{texts.workspace}</dt>
          <dd>
            {workspace.name} <small>{workspace.slug}</small>
          </dd>
          <dt>{texts.role}</dt>
          <dd>{texts.roles[workspace.role]}</dd>
        </dl>
      </Section>
      <Section {...texts.key}>
        <dl className={own.facts}>
          <dt>{texts.name}</dt>
          <dd>
            {credential.name} <code>{credential.prefix}…</code>
          </dd>
          <dt>{texts.created}</dt>
          <dd>{fullTime(credential.createdAt)}</dd>
          <dt>{texts.expires}</dt>
          <dd>{credential.expiresAt === null ? texts.never : fullTime(credential.expiresAt)}</dd>
        </dl>
      </Section>
      <Section {...texts.scopes}>
        <Scopes context={context} />
      </Section>
      <Section title={texts.endTitle} about={texts.endText}>
        <Button icon="LogOut" onClick={() => void signOut().then(() => queryClient.clear(), toastError)}>
          {texts.end}
        </Button>
      </Section>
    </>
  );
}

const Scopes = ({ context: { scopes } }: { context: AuthContext }) => (
  <ul className={own.scopes}>
    {ALL_SCOPES.map((scope) => {
      const has = scopes.includes(scope);
      return (
        <li key={scope} data-has={has}>
          {scope}
          <span className="sr"> {has ? t.settings.session.allowed : t.settings.session.notAllowed}</span>
        </li>
      );
    })}
  </ul>
);
