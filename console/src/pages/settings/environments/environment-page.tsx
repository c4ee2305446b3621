import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, type Environment, type EnvironmentVersion } from '../../../api/client.ts';
import { buildsQuery, environmentQuery, removedEnvironment, versionsQuery } from '../../../api/environment-queries.ts';
import { queryClient } from '../../../api/queries.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Choice, Confirm } from '../../../ui/form.tsx';
import { fullTime } from '../../../ui/format.ts';
import { Back, Crumb, Loaded, Note, records, Section } from '../../../ui/records.tsx';
import { Button, Failure, toast, Warning } from '../../../ui/ui.tsx';
import { Builds } from './builds.tsx';
import { DefinitionFacts } from './definition-facts.tsx';
import css from './environments.module.css';
import { editOf, LIST } from './places.ts';
import { useEnvironmentHindrance } from './rights.ts';

export function EnvironmentPage({ slug }: { slug: string }) {
  const texts = t.environments;
  const query = useQuery(environmentQuery(slug));
  return (
    <>
      <Crumb to={LIST}>{texts.title}</Crumb>
      <Loaded query={query} gone={<Back to={LIST}>{texts.title}</Back>}>
        {(environment) => <One environment={environment} />}
      </Loaded>
    </>
  );
}

function One({ environment }: { environment: Environment }) {
  const texts = t.environments;
  const { slug, name, version } = environment;
  const hindrance = useEnvironmentHindrance();
  return (
    <>
      <header className={css.head}>
        <h2>{name}</h2>
        {name !== slug && <code className="mono">{slug}</code>}
        <span className={css.weak}>{texts.version(version)}</span>
      </header>
      {hindrance === null ? <Actions of={environment} /> : <Note>{texts.readOnly[hindrance]}</Note>}
      <Versions of={environment} />
      <Builds slug={slug} />
    </>
  );
}

function Actions({ of: { slug, name } }: { of: Environment }) {
  const texts = t.environments;
  const [, navigate] = useLocation();
  const [removing, setRemoving] = useState(false);
  const build = useMutation({
    mutationFn: () => api.environments.build(slug),
    onSuccess: () => {
      toast(texts.buildAsked);
      void queryClient.invalidateQueries({ queryKey: buildsQuery(slug).queryKey });
    },
  });
  const remove = useMutation({
    mutationFn: () => api.environments.delete(slug),
    onSuccess: () => {
      toast(texts.removed(name));
      navigate(LIST, { replace: true });
      removedEnvironment(slug);
    },
  });
  return (
    <>
      <div className={records.filters} role="group" aria-label={t.records.actions}>
        <Button look="primary" icon="Refresh" disabled={build.isPending} onClick={() => build.mutate()}>
          {build.isPending ? texts.building : texts.build}
        </Button>
        <Button icon="Pencil" onClick={() => navigate(editOf(slug))}>
          {texts.edit}
        </Button>
        <Button look="danger" icon="Trash" onClick={() => setRemoving(true)}>
          {texts.remove}
        </Button>
      </div>
      {build.error !== null && <Failure error={build.error} />}
      <Confirm
        open={removing}
        title={texts.removeTitle(name)}
        action={texts.remove}
        does={remove}
        onClose={() => setRemoving(false)}
      >
        <p>{texts.removeText}</p>
      </Confirm>
    </>
  );
}

/** What it is now, and what it was: each change has made a version, and all of them are kept. */
function Versions({ of: environment }: { of: Environment }) {
  const texts = t.environments;
  const { slug, version: newest } = environment;
  const [asked, ask] = useParam('version', '');
  const { data: versions = [], error, refetch } = useQuery(versionsQuery(slug));
  const older = asked === '' || asked === String(newest) ? null : Number(asked);
  const shown: Environment | EnvironmentVersion | undefined =
    older === null ? environment : versions.find(({ version }) => version === older);
  return (
    <Section
      title={texts.what}
      actions={
        versions.length > 1 && (
          <div className={css.which}>
            <Choice
              label={texts.shown}
              value={String(older ?? newest)}
              onChange={(next) => ask(next === String(newest) ? '' : next)}
              options={versions.map(({ version, createdBy, createdAt }) => [
                String(version),
                texts.versionOf(version, createdBy.name, fullTime(createdAt)),
              ])}
            />
          </div>
        )
      }
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {older !== null && (
        <Warning>
          {texts.older(older, newest)}{' '}
          <Button small onClick={() => ask('')}>
            {texts.toNewest}
          </Button>
        </Warning>
      )}
      {shown !== undefined && <DefinitionFacts of={shown} />}
    </Section>
  );
}
