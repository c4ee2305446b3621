// The values that tasks use and never see: their names, and where they go.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Secret } from '../../../api/client.ts';
import { secretsQuery } from '../../../api/secret-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Confirm } from '../../../ui/form.tsx';
import { NothingYet, Refused } from '../../../ui/nothing.tsx';
import { Note } from '../../../ui/records.tsx';
import { Tag } from '../../../ui/tags.tsx';
import { Button, Empty, Failure } from '../../../ui/ui.tsx';
import { ProjectLink } from '../../projects/project-link.tsx';
import { Section } from '../section.tsx';
import own from '../settings.module.css';
import { useRights } from './rights.ts';
import { Create, Edit } from './secret-form.tsx';
import css from './secrets.module.css';
import { useRemove } from './use-secrets.ts';

export default function Secrets() {
  return useCan()('automations:read') ? <List /> : <Refused scope="automations:read" />;
}

type Asked = { what: 'edit' | 'remove'; secret: Secret } | 'create' | null;

function List() {
  const texts = t.secrets;
  const { scopes, hindrance } = useRights();
  const { data: secrets, error, refetch } = useQuery(secretsQuery);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const create = scopes.length > 0 && (
    <Button look="primary" icon="Plus" onClick={() => setAsked('create')}>
      {texts.create}
    </Button>
  );
  return (
    <Section title={texts.title} about={texts.about} action={secrets?.length === 0 ? undefined : create}>
      {hindrance !== null && <Note>{texts.readOnly[hindrance]}</Note>}
      {secrets === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {secrets !== undefined && error !== null && <Failure error={error} retry={() => void refetch()} />}
      {secrets?.length === 0 && (
        <div className={css.nothing}>
          <Empty icon="Lock" title={texts.none} actions={create}>
            {scopes.length > 0 ? texts.noneText : texts.noneReadOnly}
          </Empty>
        </div>
      )}
      {secrets !== undefined && secrets.length > 0 && (
        <ul className={own.rows}>
          {secrets.map((secret) => (
            <Row
              key={secret.id}
              of={secret}
              ask={scopes.includes(secret.scope) ? (what) => setAsked({ what, secret }) : null}
            />
          ))}
        </ul>
      )}
      {asked === 'create' && <Create scopes={scopes} onClose={close} />}
      {asked !== null && asked !== 'create' && asked.what === 'edit' && <Edit of={asked.secret} onClose={close} />}
      {asked !== null && asked !== 'create' && asked.what === 'remove' && <Remove of={asked.secret} onClose={close} />}
    </Section>
  );
}

/** `ask`: null for those who only look. */
function Row({ of: secret, ask }: { of: Secret; ask: ((what: 'edit' | 'remove') => void) | null }) {
  const texts = t.secrets;
  const { name, description, scope, projectId, env, bindings, version, usedAt, createdBy } = secret;
  const hosts = [...new Set(bindings.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`)))];
  return (
    <li className={css.row} aria-label={name}>
      <div className={css.head}>
        <span className={own.name}>
          <strong className="mono">{name}</strong>
          <em>{texts.scope[scope]}</em>
          <span className={own.weak}>{texts.version(version)}</span>
        </span>
        <span className="grow" />
        <span className={own.weak}>
          {texts.used} {usedAt === null ? texts.neverUsed : <Ago at={usedAt} />}
        </span>
      </div>
      {description !== null && <p className={css.description}>{description}</p>}
      <dl className={css.facts}>
        <dt>{texts.hosts}</dt>
        <dd>
          {hosts.map((host) => (
            <Tag key={host}>{host}</Tag>
          ))}
        </dd>
        {projectId !== null && (
          <>
            <dt>{texts.project}</dt>
            <dd>
              <ProjectLink projectId={projectId} />
            </dd>
          </>
        )}
        {env !== name && (
          <>
            <dt>{texts.variable}</dt>
            <dd className="mono">{env}</dd>
          </>
        )}
      </dl>
      <div className={css.head}>
        <small className={own.weak}>{texts.by(createdBy.name)}</small>
        <span className="grow" />
        {ask !== null && (
          <div className={css.actions}>
            <Button small icon="Pencil" aria-label={texts.editName(name)} onClick={() => ask('edit')}>
              {texts.edit}
            </Button>
            <Button small look="danger" aria-label={texts.removeName(name)} onClick={() => ask('remove')}>
              {texts.remove}
            </Button>
          </div>
        )}
      </div>
    </li>
  );
}

function Remove({ of: secret, onClose }: { of: Secret; onClose: () => void }) {
  const texts = t.secrets;
  const remove = useRemove(secret, onClose);
  return (
    <Confirm open onClose={onClose} title={texts.removeTitle(secret.name)} action={texts.remove} does={remove}>
      <p>{texts.removeText}</p>
    </Confirm>
  );
}
