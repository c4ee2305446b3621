// The connection of the workspace and one's own: what they are, and what the session may do with them.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { connectionsQuery } from '../../api/automation-queries.ts';
import { api, type Integration, type IntegrationConnection } from '../../api/client.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Command } from '../../ui/command.tsx';
import { fullTime } from '../../ui/format.ts';
import { Loaded, Note, records, Section } from '../../ui/records.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Button, Failure, toast, Warning } from '../../ui/ui.tsx';
import { Disconnect, GiveSecret, readAnew } from './connection-dialogs.tsx';
import { ConnectionBadge, stateOf } from './connection-badge.tsx';
import own from './integrations.module.css';

const w = t.integrations;
type Scope = IntegrationConnection['scope'];

export function Connections({ integration }: { integration: Integration }) {
  const { credentialType, workspace } = useContext();
  const query = useQuery(connectionsQuery(integration.slug));
  const looks = workspace.role === 'viewer' ? w.noViewer : credentialType === 'personal_api_key' ? null : w.noService;
  return (
    <Section title={w.connections} about={w.connectionsAbout}>
      {looks !== null && <Note>{looks}</Note>}
      {stateOf(integration) === 'error' && <Warning>{w.errorText}</Warning>}
      <Loaded query={query}>
        {(connections) => (
          <ul className={records.rows}>
            {(['workspace', 'user'] as const).map((scope) => (
              <li key={scope} className={own.connection}>
                <One
                  integration={integration}
                  scope={scope}
                  connection={connections.find((one) => one.scope === scope)}
                  changes={looks === null && (scope === 'user' || ['owner', 'admin'].includes(workspace.role))}
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function One({
  integration,
  scope,
  connection,
  changes,
}: {
  integration: Integration;
  scope: Scope;
  connection: IntegrationConnection | undefined;
  changes: boolean;
}) {
  const { slug, name, connections } = integration;
  const { workspace } = useContext();
  const [asked, setAsked] = useState<'secret' | 'disconnect' | null>(null);
  // Nowhere else: it is gone with the page.
  const [secret, setSecret] = useState<string | null>(null);
  // Of a provider that makes the secret itself: it is not here yet.
  const [lacks, setLacks] = useState(false);
  const test = useMutation({
    mutationFn: (id: string) => api.integrations.test(slug, id),
    onSuccess: ({ verdict }) => {
      toast(w.tested(w.verdict[verdict]), verdict !== 'handshake');
      readAnew(integration);
    },
  });
  const close = () => setAsked(null);
  const theirs = w.theirs[slug];
  return (
    <>
      <div className={own.head}>
        <strong>{scope === 'workspace' ? w.workspace : w.own}</strong>
        <ConnectionBadge state={connections[scope]} />
        <span className="grow" />
        {changes && connection === undefined && (
          <Button
            small
            icon="Link"
            aria-label={`${w.connect}: ${w.connectScope[scope]}`}
            onClick={() => setAsked('secret')}
          >
            {w.connect}
          </Button>
        )}
        {changes && connection !== undefined && (
          <>
            {connection.testable && (
              <Button
                small
                icon="Send"
                aria-label={w.testName[scope]}
                disabled={test.isPending}
                onClick={() => test.mutate(connection.id)}
              >
                {w.test}
              </Button>
            )}
            <Button small icon="Key" aria-label={w.rotateName[scope]} onClick={() => setAsked('secret')}>
              {w.rotate}
            </Button>
            <Button small look="danger" aria-label={w.disconnectName[scope]} onClick={() => setAsked('disconnect')}>
              {w.disconnect}
            </Button>
          </>
        )}
      </div>
      {scope === 'workspace' && workspace.role === 'member' && <p className={records.under}>{w.workspaceAdmins}</p>}
      {test.error !== null && <Failure error={test.error} />}
      {secret !== null && (
        <Secret
          title={w.secretTitle(name)}
          about={w.secretOnce}
          done={w.secretDone}
          secret={secret}
          autoFocus
          onDone={() => setSecret(null)}
        />
      )}
      {lacks && theirs !== undefined && <Warning>{w.secretLater(name, theirs)}</Warning>}
      {connection !== undefined && <About connection={connection} />}
      {asked === 'secret' && (
        <GiveSecret
          integration={integration}
          scope={scope}
          connection={connection}
          onClose={close}
          onGiven={(shown, lacking) => {
            close();
            setSecret(shown);
            setLacks(lacking);
          }}
        />
      )}
      {asked === 'disconnect' && connection !== undefined && (
        <Disconnect
          integration={integration}
          connection={connection}
          onClose={close}
          onDone={() => {
            close();
            setSecret(null);
            setLacks(false);
          }}
        />
      )}
    </>
  );
}

function About({
  connection: { slug, path, url, createdAt, lastDeliveryAt, previousSecretUntil },
}: {
  connection: IntegrationConnection;
}) {
  return (
    <>
      <p className={records.under}>{w.steps[slug] ?? w.stepsOther}</p>
      <div>
        <span className="sr">{w.address}</span>
        <Command line={url ?? location.origin + path} />
      </div>
      {url === null && <p className={records.under}>{w.addressHere}</p>}
      {previousSecretUntil !== null && new Date(previousSecretUntil).getTime() > Date.now() && (
        <p className={records.under}>{w.secretUntil(fullTime(previousSecretUntil))}</p>
      )}
      <p className={records.under}>
        {t.records.created} <Ago at={createdAt} />
        {' · '}
        {lastDeliveryAt === null ? (
          w.noDelivery
        ) : (
          <>
            {w.lastDelivery} <Ago at={lastDeliveryAt} />
          </>
        )}
      </p>
    </>
  );
}
