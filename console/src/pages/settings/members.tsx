import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api, type Invitation, type Member } from '../../api/client.ts';
import { membersQuery } from '../../api/queries.ts';
import { useContext } from '../../shell/can.ts';
import { useHindrance } from '../../shell/administration.ts';
import { t } from '../../texts/index.ts';
import { DialogActions, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { Icon } from '../../ui/icon.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Note } from '../../ui/records.tsx';
import { Button, Dialog, toast } from '../../ui/ui.tsx';
import { type Role, rolesOf } from './administration.ts';
import { Invite } from './invite.tsx';
import { ChangeRole, readMembersAnew, Remove, RoleChoice } from './member-dialogs.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

type Asked =
  | { what: 'add' }
  | { what: 'change' | 'remove'; member: Member }
  /** `made`: its link, just after it was added. */
  | { what: 'invite'; member: Member; made?: Invitation | undefined }
  | null;

export function Members() {
  const { members: texts } = t.settings;
  const hindrance = useHindrance();
  const { data: members, error, refetch } = useQuery(membersQuery);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const people = members?.filter(({ kind }) => kind === 'person');
  const may = hindrance === null;
  return (
    <Section
      title={texts.title}
      about={texts.about}
      action={
        may && (
          <Button look="primary" icon="Plus" onClick={() => setAsked({ what: 'add' })}>
            {texts.add}
          </Button>
        )
      }
    >
      {!may && <Note>{texts.readOnly[hindrance]}</Note>}
      {people === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {people !== undefined && (
        <ul className={own.rows}>
          {people.map((member) => (
            <li key={member.id} className={own.row}>
              <Who member={member} icon="User">
                {member.email !== null && <span>{member.email}</span>}
                {member.access && texts.access[member.access] && <span>{texts.access[member.access]}</span>}
                {member.origin && <span>{texts.origin[member.origin]}</span>}
                {member.provider !== null && <span>{texts.provider(new URL(member.provider).host)}</span>}
              </Who>
              {may && (
                <MemberActions
                  member={member}
                  isLast={member.role === 'owner' && people.filter(({ role }) => role === 'owner').length === 1}
                  onAsk={(what) => setAsked({ what, member })}
                  onInvite={() => setAsked({ what: 'invite', member })}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {asked?.what === 'add' && (
        <Add onClose={close} onAdded={(member, made) => setAsked({ what: 'invite', member, made })} />
      )}
      {asked?.what === 'change' && <ChangeRole of={asked.member} onClose={close} />}
      {asked?.what === 'invite' && <Invite key={asked.member.id} of={asked.member} made={asked.made} onClose={close} />}
      {asked?.what === 'remove' && <Remove of={asked.member} members={members ?? []} onClose={close} />}
    </Section>
  );
}

/** Who it is, and as what. */
export function Who({
  member: { id, name, role },
  icon,
  children,
}: {
  member: Member;
  icon: 'User' | 'Terminal';
  children?: ReactNode;
}) {
  const { user } = useContext();
  const { members: texts } = t.settings;
  return (
    <>
      <Icon name={icon} size={15} />
      <div className="grow">
        <span className={own.name}>
          <strong>{name}</strong>
          {id === user.id && <em>{texts.you}</em>}
        </span>
        <p className={own.about}>
          <span>{texts.role[role]}</span>
          {children}
        </p>
      </div>
    </>
  );
}

/** What the session may do with a member; where it may nothing, why. */
export function MemberActions({
  member: { name, role, kind, access },
  isLast = false,
  onAsk,
  onInvite,
}: {
  member: Member;
  isLast?: boolean;
  onAsk: (what: 'change' | 'remove') => void;
  /** Of a person who may be let in by a link. */
  onInvite?: () => void;
}) {
  const { members: texts, services } = t.settings;
  const words = kind === 'service' ? services : texts;
  const context = useContext();
  const changes = rolesOf(context).includes(role);
  if (isLast || !changes) return <small className={own.weak}>{changes ? texts.lastOwner : texts.ownersOnly}</small>;
  return (
    <div className={own.actions}>
      {onInvite && (access === 'none' || access === 'invited') && (
        <Button small aria-label={texts.inviteName(name)} onClick={onInvite}>
          {texts.invite}
        </Button>
      )}
      <Button small aria-label={texts.changeName(name)} onClick={() => onAsk('change')}>
        {texts.change}
      </Button>
      <Button small look="danger" aria-label={words.removeName(name)} onClick={() => onAsk('remove')}>
        {words.remove}
      </Button>
    </div>
  );
}

function Add({ onClose, onAdded }: { onClose: () => void; onAdded: (member: Member, made?: Invitation) => void }) {
  const { members: texts } = t.settings;
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [missing, setMissing] = useState(false);
  const add = useMutation({
    mutationFn: async () => {
      const member = await api.members.add({ email: email.trim(), role, ...(name.trim() && { name: name.trim() }) });
      // A refusal is shown where the link is asked for again.
      return { member, made: await api.members.invite(member.id).catch(() => undefined) };
    },
    onSuccess: ({ member, made }) => {
      toast(texts.added(member.name));
      readMembersAnew();
      onAdded(member, made);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = email.trim() === '';
    setMissing(lacks);
    if (!lacks) add.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={texts.add}>
      <form className={own.form} onSubmit={submit} noValidate>
        <TextField
          label={texts.email}
          hint={texts.emailHint}
          said={missing ? texts.noEmail : saidOf(add.error, 'email')}
          value={email}
          type="email"
          autoFocus
          autoComplete="off"
          maxLength={320}
          onChange={setEmail}
        />
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          said={saidOf(add.error, 'name')}
          value={name}
          autoComplete="off"
          maxLength={200}
          onChange={setName}
        />
        <RoleChoice value={role} onChange={setRole} />
        <FormFailure error={add.error} fields={['email', 'name']} />
        <DialogActions onKeep={onClose} type="submit" disabled={add.isPending}>
          {texts.addAction}
        </DialogActions>
      </form>
    </Dialog>
  );
}
