// What owners and admins do with a member, be it a person or a service account.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, type Member } from '../../api/client.ts';
import { membersQuery, queryClient } from '../../api/queries.ts';
import { find } from '../../api/session.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice, DialogActions, FormFailure, saidOf } from '../../ui/form.tsx';
import { Dialog, toast } from '../../ui/ui.tsx';
import { type Role, rolesOf } from './administration.ts';
import own from './settings.module.css';

export const readMembersAnew = () => void queryClient.invalidateQueries({ queryKey: membersQuery.queryKey });

interface Props {
  of: Member;
  onClose: () => void;
}

export const RoleChoice = ({ value, onChange }: { value: Role; onChange: (role: Role) => void }) => (
  <Choice
    label={t.settings.members.roleLabel}
    hint={t.settings.session.roles[value]}
    value={value}
    onChange={onChange}
    options={rolesOf(useContext()).map((role) => [role, t.settings.members.role[role]] as const)}
  />
);

export function ChangeRole({ of: { id, name, role: now }, onClose }: Props) {
  const { user } = useContext();
  const { members: texts } = t.settings;
  const [role, setRole] = useState(now);
  const change = useMutation({
    mutationFn: () => api.members.update(id, { role }),
    onSuccess: (member) => {
      toast(texts.changed(name, texts.role[member.role]));
      onClose();
      readMembersAnew();
      if (id === user.id) void find();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={texts.changeName(name)}>
      <form className={own.form} onSubmit={submit}>
        <RoleChoice value={role} onChange={setRole} />
        {id === user.id && <p>{texts.changeSelf}</p>}
        <FormFailure error={change.error} fields={[]} />
        <DialogActions onKeep={onClose} type="submit" disabled={change.isPending || role === now}>
          {texts.save}
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** With a hand-over of what it owns, or without. `members`: all of them. */
export function Remove({ of: member, members, onClose }: Props & { members: Member[] }) {
  const { id, name, kind } = member;
  const { user } = useContext();
  const { members: texts } = t.settings;
  const words = kind === 'service' ? t.settings.services : texts;
  const heirs = members.filter((one) => one.id !== id && one.role !== 'viewer');
  const [heirId, setHeirId] = useState('');
  const heir = heirs.find((one) => one.id === heirId);
  const remove = useMutation({
    mutationFn: () => {
      if (heir !== undefined) return api.members.remove(id, { transferTo: heir.id });
      return kind === 'service' ? api.serviceAccounts.delete(id) : api.members.remove(id);
    },
    onSuccess: () => {
      toast(words.removed(name));
      onClose();
      // Of the session's own member it finds that nobody is signed in any more.
      readMembersAnew();
    },
  });
  return (
    <Dialog open onClose={onClose} title={words.removeTitle(name)}>
      <p>{words.removeKeys}</p>
      <Choice
        label={texts.owns}
        said={saidOf(remove.error, 'transferTo')}
        hint={heir === undefined ? texts.staysText : texts.heirText(heir.name)}
        value={heirId}
        onChange={setHeirId}
        options={[['', texts.stays], ...heirs.map((one) => [one.id, texts.heir(one.name)] as const)]}
      />
      {id === user.id && <p>{texts.removeSelf}</p>}
      <FormFailure error={remove.error} fields={['transferTo']} />
      <DialogActions onKeep={onClose} look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
        {words.remove}
      </DialogActions>
    </Dialog>
  );
}
