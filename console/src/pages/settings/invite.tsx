// How a member gets in who has no key yet: by a link, or where the service makes none by a line for the operator.
import { useMutation } from '@tanstack/react-query';
import { api, type Invitation, type Member } from '../../api/client.ts';
import { useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Command } from '../../ui/command.tsx';
import { DialogActions, form, FormFailure } from '../../ui/form.tsx';
import { fullTime } from '../../ui/format.ts';
import { Button, copy, Dialog } from '../../ui/ui.tsx';
import { readMembersAnew } from './member-dialogs.tsx';
import own from './settings.module.css';

/** `made`: the link that there is already. */
export function Invite({ of, made, onClose }: { of: Member; made?: Invitation | undefined; onClose: () => void }) {
  const { workspace } = useContext();
  const { members: texts } = t.settings;
  const invite = useMutation({ mutationFn: () => api.members.invite(of.id), onSettled: readMembersAnew });
  const link = invite.data ?? made;
  if (link !== undefined) return <Link of={of} link={link} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title={texts.inviteName(of.name)}>
      <p>
        {texts.inviteText(of.name)} {of.access === 'invited' && texts.inviteAgain}
      </p>
      <FormFailure error={invite.error} fields={[]} />
      {invite.error !== null && (
        <div className={own.lines}>
          <p>{texts.operator}</p>
          <Command line={texts.keyLine(workspace.slug, quoted(of.email ?? of.name))} />
        </div>
      )}
      <DialogActions onKeep={onClose} disabled={invite.isPending} onClick={() => invite.mutate()}>
        {texts.inviteAction}
      </DialogActions>
    </Dialog>
  );
}

function Link({ of, link, onClose }: { of: Member; link: Invitation; onClose: () => void }) {
  const { members: texts } = t.settings;
  const address = addressOf(link);
  return (
    <Dialog open onClose={onClose} title={texts.linkTitle(of.name)}>
      <div className={form.secret}>
        <p>{texts.linkText(of.email ?? of.name, fullTime(link.expiresAt))}</p>
        <output>{address}</output>
        <div>
          <Button icon="Copy" autoFocus onClick={() => void copy(address)}>
            {texts.copyLink}
          </Button>
          <Button look="ghost" onClick={onClose}>
            {t.form.done}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** An http address is of the machine of the service alone. That of this page is then at least as good: somebody has signed in there. */
const addressOf = ({ url, code }: Invitation): string =>
  url?.startsWith('https:') ? url : `${location.origin}/console/settings?part=keys#code=${code}`;

/** As one word for a shell, whatever stands in it: an address may have signs that a shell would carry out. */
const quoted = (text: string): string =>
  /^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
