// Know-how for agents: a list, and pages of one in the same part of the settings.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { api, type Skill } from '../../../api/client.ts';
import { readSkillsAnew, skillsQuery } from '../../../api/skill-queries.ts';
import { useCan } from '../../../shell/can.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Code } from '../../../ui/code.tsx';
import { bytes } from '../../../ui/format.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Refused } from '../../../ui/nothing.tsx';
import { Badge, Loaded, Note, records } from '../../../ui/records.tsx';
import { Button, Empty, Failure, toast } from '../../../ui/ui.tsx';
import { Section } from '../section.tsx';
import { hrefOf } from './places.ts';
import { SkillPage } from './skill-page.tsx';

export default function Skills() {
  const can = useCan();
  const [name] = useParam('skill', '');
  if (!can('projects:read')) return <Refused scope="projects:read" />;
  return name === '' ? <List /> : <SkillPage key={name} name={name} />;
}

function List() {
  const texts = t.skills;
  const may = useCan()('projects:write');
  const input = useRef<HTMLInputElement>(null);
  const query = useQuery(skillsQuery);
  const push = useMutation({
    mutationFn: (zip: File) => api.skills.push(zip),
    onSuccess: ({ name, version }) => {
      toast(texts.added(name, version));
      void readSkillsAnew();
    },
  });
  const add = may && (
    <Button look="primary" icon="Plus" disabled={push.isPending} onClick={() => input.current?.click()}>
      {push.isPending ? texts.adding : texts.add}
    </Button>
  );
  return (
    <Section title={texts.title} about={texts.about} action={query.data?.length === 0 ? undefined : add}>
      {!may && <Note>{texts.readOnly}</Note>}
      {/* Here, and not beside the button: that moves when the first skill comes, and what is being chosen meanwhile would be lost. */}
      {may && (
        <input
          ref={input}
          type="file"
          accept=".zip,application/zip"
          hidden
          aria-label={texts.zip}
          onChange={({ target }) => {
            const [zip] = target.files ?? [];
            if (zip !== undefined) push.mutate(zip);
            // The same file may be chosen again.
            target.value = '';
          }}
        />
      )}
      {push.error !== null && <Failure error={push.error} />}
      <Loaded query={query}>
        {(skills) =>
          skills.length === 0 ? (
            <div className={records.failure}>
              <Empty icon="FileText" title={texts.none} actions={add}>
                {may ? texts.noneText : texts.noneReadOnly}
              </Empty>
              {may && <Code code={texts.example} language="markdown" label="SKILL.md" />}
            </div>
          ) : (
            <ul className={records.rows}>
              {skills.map((skill) => (
                <li key={skill.id}>
                  <Row of={skill} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Row({ of: { name, version, description, files, bytes: size, default: isDefault, updatedAt } }: { of: Skill }) {
  const texts = t.skills;
  return (
    <Link href={hrefOf(name)} className={records.entry ?? ''}>
      <Icon name="FileText" size={15} />
      <span className={records.main}>
        <span className={records.title}>
          {name} {isDefault && <Badge tone="good">{texts.isDefault}</Badge>}
        </span>
        <span className={records.under}>{description}</span>
      </span>
      <span className={records.side}>
        <span>
          {texts.version(version)} · {texts.holds(files, bytes(size))}
        </span>
        <span>
          {texts.changed} <Ago at={updatedAt} />
        </span>
      </span>
    </Link>
  );
}
