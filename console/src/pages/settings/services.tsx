import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { serviceKeysQuery } from '../../api/account-queries.ts';
import { api, type Key, type Member } from '../../api/client.ts';
import { membersQuery, queryClient } from '../../api/queries.ts';
import { useContext } from '../../shell/can.ts';
import { useHindrance } from '../../shell/administration.ts';
import { t } from '../../texts/index.ts';
import { Confirm, DialogActions, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { NothingYet } from '../../ui/nothing.tsx';
import { Note } from '../../ui/records.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Button, Dialog, toast } from '../../ui/ui.tsx';
import { type Role, rolesOf } from './administration.ts';
import { KeyFacts } from './key-facts.tsx';
import { ChangeRole, readMembersAnew, Remove, RoleChoice } from './member-dialogs.tsx';
import { MemberActions, Who } from './members.tsx';
import { NewKey } from './new-key.tsx';
import { ALL_SCOPES } from './scopes.ts';
import { Section } from './section.tsx';
import own from './settings.module.css';

type Asked = { what: 'add' } | { what: 'change' | 'remove'; member: Member } | null;

/** The list is that of the members, which every member reads; keys are for those who may change them. */
export function Services() {
  const { services: texts, members: words } = t.settings;
  const hindrance = useHindrance();
  const { data: members, error, refetch } = useQuery(membersQuery);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const accounts = members?.filter(({ kind }) => kind === 'service');
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
      {!may && <Note>{words.readOnly[hindrance]}</Note>}
      {accounts === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
      {accounts?.length === 0 && <p className={own.weak}>{texts.empty}</p>}
      {accounts !== undefined && accounts.length > 0 && (
        <ul className={own.rows}>
          {accounts.map((member) => (
            <li key={member.id}>
              <div className={own.row}>
                <Who member={member} icon="Terminal" />
                {may && <MemberActions member={member} onAsk={(what) => setAsked({ what, member })} />}
              </div>
              {may && <AccountKeys of={member} />}
            </li>
          ))}
        </ul>
      )}
      {asked?.what === 'add' && <Add onClose={close} />}
      {asked?.what === 'change' && <ChangeRole of={asked.member} onClose={close} />}
      {asked?.what === 'remove' && <Remove of={asked.member} members={members ?? []} onClose={close} />}
    </Section>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const { services: texts } = t.settings;
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [missing, setMissing] = useState(false);
  const add = useMutation({
    mutationFn: () => api.serviceAccounts.create({ name: name.trim(), role }),
    onSuccess: (account) => {
      toast(texts.added(account.name));
      onClose();
      readMembersAnew();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = name.trim() === '';
    setMissing(lacks);
    if (!lacks) add.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={texts.add}>
      <form className={own.form} onSubmit={submit} noValidate>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          said={missing ? texts.noName : saidOf(add.error, 'name')}
          value={name}
          autoFocus
          autoComplete="off"
          maxLength={200}
          onChange={setName}
        />
        <RoleChoice value={role} onChange={setRole} />
        <FormFailure error={add.error} fields={['name']} />
        <DialogActions onKeep={onClose} type="submit" disabled={add.isPending}>
          {texts.addAction}
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Looked up when somebody wants to see them. */
function AccountKeys({ of: { id, name, role } }: { of: Member }) {
  const { services: texts, keys: words } = t.settings;
  const context = useContext();
  const [open, setOpen] = useState(false);
  const [making, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  // Nowhere else: it is gone with the page.
  const [made, setMade] = useState<{ title: string; secret: string } | null>(null);
  const query = serviceKeysQuery(id);
  const { data: keys, error, refetch } = useQuery({ ...query, enabled: open });
  const show = (title: string, secret: string) => {
    setMade({ title, secret });
    setMaking(false);
    void queryClient.invalidateQueries({ queryKey: query.queryKey });
  };
  const changes = rolesOf(context).includes(role);
  return (
    <details className={own.keys} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={texts.keysOf(name)}>{texts.keys}</summary>
      {made !== null && <Secret {...made} autoFocus onDone={() => setMade(null)} />}
      {open && keys === undefined && <NothingYet error={error} refetch={refetch} h={60} />}
      {keys?.length === 0 && <p className={own.weak}>{texts.noKeys}</p>}
      {keys !== undefined && keys.length > 0 && (
        <ul className={own.rows}>
          {keys.map((key) => (
            <li key={key.id} className={own.row}>
              <KeyFacts of={key} />
              {changes && (
                <Button small look="danger" aria-label={words.revokeName(key.name)} onClick={() => setRevoked(key)}>
                  {words.revoke}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {changes && (
        <Button small icon="Plus" aria-label={texts.newKeyName(name)} onClick={() => setMaking(true)}>
          {texts.newKey}
        </Button>
      )}
      <NewKey
        open={making}
        title={texts.newKeyName(name)}
        most={{ scopes: ALL_SCOPES, expiresAt: null }}
        scopesHint={texts.scopesHint}
        make={(body) => api.serviceAccounts.createKey(id, body)}
        onClose={() => setMaking(false)}
        onMade={show}
      />
      {revoked !== null && <Revoke account={id} of={revoked} onClose={() => setRevoked(null)} />}
    </details>
  );
}

function Revoke({ account, of: key, onClose }: { account: string; of: Key; onClose: () => void }) {
  const { keys: texts } = t.settings;
  const revoke = useMutation({
    mutationFn: () => api.serviceAccounts.deleteKey(account, key.id),
    onSuccess: () => {
      toast(texts.revoked(key.name));
      onClose();
      void queryClient.invalidateQueries({ queryKey: serviceKeysQuery(account).queryKey });
    },
  });
  return (
    <Confirm open onClose={onClose} title={texts.revokeTitle(key.name)} action={texts.revokeAction} does={revoke}>
      <p>{texts.revokeText}</p>
    </Confirm>
  );
}
