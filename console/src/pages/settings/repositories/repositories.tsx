// The hosts of code that a workspace is connected to.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RepositoryConnection } from '../../../api/client.ts';
import { connectionsQuery } from '../../../api/repository-queries.ts';
import { useConnectHindrance } from '../../../shell/administration.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Tag } from '../../../ui/tags.tsx';
import { NothingYet, Refused } from '../../../ui/nothing.tsx';
import { Badge, Note } from '../../../ui/records.tsx';
import { Button, Empty, Failure } from '../../../ui/ui.tsx';
import { Section } from '../section.tsx';
import own from '../settings.module.css';
import { Connect } from './connect.tsx';
import { Edit, Remove, Replace } from './dialogs.tsx';
import css from './hosts.module.css';
import { useTest } from './use-connections.ts';

export default function Repositories() {
  return useCan()('projects:read') ? <Connections /> : <Refused scope="projects:read" />;
}

const DIALOGS = { edit: Edit, rotate: Replace, remove: Remove };
type Asked = { what: keyof typeof DIALOGS; connection: RepositoryConnection } | 'connect' | null;

function Connections() {
  const { settings: texts } = t.repositories;
  const hindrance = useConnectHindrance();
  const { data: connections, error, refetch } = useQuery(connectionsQuery);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const Shown = asked === null || asked === 'connect' ? null : DIALOGS[asked.what];
  const connect = hindrance === null && (
    <Button look="primary" icon="Plus" onClick={() => setAsked('connect')}>
      {texts.connect}
    </Button>
  );
  return (
    <Section title={texts.title} about={texts.about} action={connections?.length === 0 ? undefined : connect}>
      {hindrance !== null && <Note>{texts.readOnly[hindrance]}</Note>}
      {connections === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {connections !== undefined && error !== null && <Failure error={error} retry={() => void refetch()} />}
      {connections?.length === 0 && (
        <div className={css.nothing}>
          <Empty icon="PullRequest" title={texts.none} actions={connect}>
            {hindrance === null ? texts.noneText : texts.noneReadOnly}
          </Empty>
        </div>
      )}
      {connections !== undefined && connections.length > 0 && (
        <ul className={own.rows}>
          {connections.map((connection) => (
            <Row
              key={connection.id}
              of={connection}
              ask={hindrance === null ? (what) => setAsked({ what, connection }) : null}
            />
          ))}
        </ul>
      )}
      <Connect open={asked === 'connect'} onClose={close} />
      {Shown !== null && asked !== null && asked !== 'connect' && <Shown of={asked.connection} onClose={close} />}
    </Section>
  );
}

/** `ask`: null for those who only look. */
function Row({
  of: connection,
  ask,
}: {
  of: RepositoryConnection;
  ask: ((what: keyof typeof DIALOGS) => void) | null;
}) {
  const { settings: texts } = t.repositories;
  const { host, kind, account, paths, push, status, lastError, createdBy } = connection;
  const test = useTest(connection);
  return (
    <li className={css.row} aria-label={host}>
      <div className={css.head}>
        <span className={own.name}>
          <strong>{host}</strong>
          <em>{texts.kind[kind]}</em>
          <span className={own.weak}>{account === null ? texts.untested : texts.as(account)}</span>
        </span>
        <span className="grow" />
        <Badge tone={status === 'failed' ? 'bad' : account === null ? 'quiet' : 'good'}>{texts.status[status]}</Badge>
      </div>
      {lastError !== null && <p className={css.error}>{lastError}</p>}
      <dl className={css.facts}>
        <dt>{texts.repositories}</dt>
        <dd>{String(paths) === '**' ? texts.everything : paths.map((path) => <Tag key={path}>{path}</Tag>)}</dd>
        <dt>{texts.branches}</dt>
        <dd>{push.length === 0 ? texts.noBranches : push.map((name) => <Tag key={name}>{name}</Tag>)}</dd>
      </dl>
      <div className={css.head}>
        <small className={own.weak}>{texts.by(createdBy.name)}</small>
        <span className="grow" />
        {ask !== null && (
          <div className={css.actions}>
            <Button
              small
              icon="Refresh"
              aria-label={texts.testName(host)}
              disabled={test.isPending}
              onClick={() => test.mutate()}
            >
              {test.isPending ? texts.testing : texts.test}
            </Button>
            <Button small icon="Pencil" aria-label={texts.editName(host)} onClick={() => ask('edit')}>
              {texts.edit}
            </Button>
            <Button small icon="Key" aria-label={texts.rotateName(host)} onClick={() => ask('rotate')}>
              {texts.rotate}
            </Button>
            <Button small look="danger" aria-label={texts.removeName(host)} onClick={() => ask('remove')}>
              {texts.remove}
            </Button>
          </div>
        )}
      </div>
    </li>
  );
}
