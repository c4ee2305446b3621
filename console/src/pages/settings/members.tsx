import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../../api/queries.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Icon } from '../../ui/icon.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

export function Members() {
  const { user } = useContext();
  const { members: texts } = t.settings;
  const { data: members, error, refetch } = useQuery(membersQuery);
  return (
    <Section title={texts.title} about={texts.about}>
      {members === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {members !== undefined && (
        <ul className={own.rows}>
          {members.map(({ id, name, role, kind }) => (
            <li key={id} className={own.row}>
              <Icon name={kind === 'person' ? 'User' : 'Terminal'} size={15} />
              <span className={own.name}>
                <strong>{name}</strong>
                {id === user.id && <em>{texts.you}</em>}
              </span>
              <span className="grow" />
              <small className={own.weak}>
                {kind === 'person' ? texts.role[role] : `${texts.kind[kind]} · ${texts.role[role]}`}
              </small>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
