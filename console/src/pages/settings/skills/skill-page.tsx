import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, type Skill } from '../../../api/client.ts';
import { downloadSkill, readSkillsAnew, skillsQuery, skillVersionsQuery } from '../../../api/skill-queries.ts';
import { useCan, useContext, useOwns } from '../../../shell/can.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Check, Choice, Confirm, form } from '../../../ui/form.tsx';
import { bytes, fullTime } from '../../../ui/format.ts';
import { NothingHere } from '../../../ui/nothing.tsx';
import { Back, Crumb, Fact, Facts, Loaded, records, Section } from '../../../ui/records.tsx';
import { Button, Failure, toast, Warning } from '../../../ui/ui.tsx';
import { Contents } from './contents.tsx';
import { LIST } from './places.ts';

export function SkillPage({ name }: { name: string }) {
  const query = useQuery(skillsQuery);
  return (
    <>
      <Crumb to={LIST}>{t.skills.title}</Crumb>
      <Loaded query={query}>
        {(skills) => {
          const skill = skills.find((one) => one.name === name);
          return skill === undefined ? (
            <NothingHere actions={<Back to={LIST}>{t.skills.title}</Back>} />
          ) : (
            <One skill={skill} />
          );
        }}
      </Loaded>
    </>
  );
}

function One({ skill }: { skill: Skill }) {
  const texts = t.skills;
  const { id, name, version: newest } = skill;
  const [asked, ask] = useParam('version', '');
  const { data: versions = [], error, refetch } = useQuery(skillVersionsQuery(id));
  const older = asked === '' || asked === String(newest) ? null : Number(asked);
  const version = older ?? newest;
  const shown = older === null ? skill : versions.find((one) => one.version === older);
  return (
    <>
      <Actions of={skill} />
      <Section
        title={name}
        actions={
          <Button icon="Download" onClick={() => downloadSkill(id, name, version)}>
            {texts.download}
          </Button>
        }
      >
        {versions.length > 1 && (
          <Choice
            label={texts.shown}
            value={String(version)}
            onChange={(next) => ask(next === String(newest) ? '' : next)}
            options={versions.map(({ version: n, createdBy, createdAt }) => [
              String(n),
              texts.versionOf(n, createdBy.name, fullTime(createdAt)),
            ])}
          />
        )}
        {error !== null && <Failure error={error} retry={() => void refetch()} />}
        {older !== null && (
          <Warning>
            {texts.older(older, newest)}{' '}
            <Button small onClick={() => ask('')}>
              {texts.toNewest}
            </Button>
          </Warning>
        )}
        {shown !== undefined && (
          <Facts>
            <Fact name={texts.description}>{shown.description}</Fact>
            <Fact name={texts.size}>{texts.holds(shown.files, bytes(shown.bytes))}</Fact>
            <Fact name={texts.sha256}>
              <code>{shown.sha256}</code>
            </Fact>
          </Facts>
        )}
      </Section>
      <Contents key={version} id={id} version={version} />
    </>
  );
}

function Actions({ of: skill }: { of: Skill }) {
  const texts = t.skills;
  const { id, name } = skill;
  const [, navigate] = useLocation();
  const [removing, setRemoving] = useState(false);
  const { workspace } = useContext();
  const writes = useCan()('projects:write');
  const owns = useOwns()(skill.createdBy);
  const remove = useMutation({
    mutationFn: () => api.skills.delete(id),
    onSuccess: () => {
      toast(texts.removed(name));
      navigate(LIST, { replace: true });
      void readSkillsAnew();
    },
  });
  // A mutation says that it is under way only after the click: until then React would put the checkbox back.
  const [asked, ask] = useState<boolean | null>(null);
  const change = useMutation({
    mutationFn: (isDefault: boolean) => api.skills.update(id, { default: isDefault }),
    onSettled: () => readSkillsAnew().finally(() => ask(null)),
  });
  if (!writes) return null;
  return (
    <>
      <Check
        checked={asked ?? skill.default}
        disabled={asked !== null || !(workspace.role === 'owner' || workspace.role === 'admin')}
        onChange={(on) => {
          ask(on);
          change.mutate(on);
        }}
      >
        {texts.makeDefault} <small className={form.hint}>{texts.makeDefaultHint}</small>
      </Check>
      {change.error !== null && <Failure error={change.error} />}
      {owns && (
        <div className={records.filters} role="group" aria-label={t.records.actions}>
          <Button look="danger" icon="Trash" onClick={() => setRemoving(true)}>
            {texts.remove}
          </Button>
        </div>
      )}
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
