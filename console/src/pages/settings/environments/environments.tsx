// What tasks begin with: a list, and pages of one in the same part of the settings.
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type { Environment } from '../../../api/client.ts';
import { environmentsQuery } from '../../../api/environment-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Refused } from '../../../ui/nothing.tsx';
import { Loaded, Note, records } from '../../../ui/records.tsx';
import { Button, Empty } from '../../../ui/ui.tsx';
import { Section } from '../section.tsx';
import { EditEnvironment, NewEnvironment } from './editor.tsx';
import { EnvironmentPage } from './environment-page.tsx';
import { useEnvironmentHindrance } from './rights.ts';
import { hrefOf, NEW } from './places.ts';

export default function Environments() {
  const can = useCan();
  const [slug] = useParam('environment', '');
  const [doing] = useParam('do', '');
  if (!can('projects:read')) return <Refused scope="projects:read" />;
  if (doing === 'new') return <NewEnvironment />;
  if (slug === '') return <List />;
  return doing === 'edit' ? <EditEnvironment key={slug} slug={slug} /> : <EnvironmentPage key={slug} slug={slug} />;
}

function List() {
  const texts = t.environments;
  const [, navigate] = useLocation();
  const hindrance = useEnvironmentHindrance();
  const query = useQuery(environmentsQuery);
  const create = hindrance === null && (
    <Button look="primary" icon="Plus" onClick={() => navigate(NEW)}>
      {texts.create}
    </Button>
  );
  return (
    <Section title={texts.title} about={texts.about} action={query.data?.length === 0 ? undefined : create}>
      {hindrance !== null && <Note>{texts.readOnly[hindrance]}</Note>}
      <Loaded query={query}>
        {(environments) =>
          environments.length === 0 ? (
            <div className={records.failure}>
              <Empty icon="Box" title={texts.none} actions={create}>
                {hindrance === null ? texts.noneText : texts.noneReadOnly}
              </Empty>
            </div>
          ) : (
            <ul className={records.rows}>
              {environments.map((environment) => (
                <li key={environment.id}>
                  <Row of={environment} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Row({ of: { slug, name, version, setup, allowHosts, updatedAt } }: { of: Environment }) {
  const texts = t.environments;
  return (
    <Link href={hrefOf(slug)} className={records.entry ?? ''}>
      <Icon name="Box" size={15} />
      <span className={records.main}>
        <span className={records.title}>
          {name}
          {name !== slug && <code className="mono">{slug}</code>}
        </span>
        <span className={records.under}>
          {texts.version(version)} · {setup.length === 0 ? texts.noSetup : texts.commands(setup.length)} ·{' '}
          {texts.hostCount(allowHosts.length)}
        </span>
      </span>
      <span className={records.side}>
        <span>
          {texts.changed} <Ago at={updatedAt} />
        </span>
      </span>
    </Link>
  );
}
