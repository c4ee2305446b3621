import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { integrationDeliveriesQuery, integrationsQuery } from '../../api/automation-queries.ts';
import { api, type Integration, type IntegrationConnection } from '../../api/client.ts';
import { automationsQuery, queryClient } from '../../api/queries.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice, Confirm, DialogActions, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { Dialog, toast } from '../../ui/ui.tsx';
import own from './integrations.module.css';

const w = t.integrations;

/** Its state and its connections; automations pause with one. */
export function readAnew({ slug }: Integration): void {
  for (const queryKey of [integrationsQuery.queryKey, integrationDeliveriesQuery(slug).queryKey, ['automations']]) {
    void queryClient.invalidateQueries({ queryKey });
  }
}

/** Makes a connection, or gives one another secret. */
export function GiveSecret({
  integration,
  scope,
  connection,
  onClose,
  onGiven,
}: {
  integration: Integration;
  scope: IntegrationConnection['scope'];
  /** Undefined: it is to be made. */
  connection: IntegrationConnection | undefined;
  onClose: () => void;
  /** `shown`: what was made here and is to be entered at the provider. `lacking`: the provider's own is still to come. */
  onGiven: (shown: string | null, lacking: boolean) => void;
}) {
  const { slug, name } = integration;
  const theirs = w.theirs[slug];
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState<keyof typeof w.overlaps>('86400');
  const [missing, setMissing] = useState(false);
  const given = secret.trim();
  const give = useMutation({
    mutationFn: () => {
      const body = given === '' ? {} : { secret: given };
      if (connection === undefined) return api.integrations.connect(slug, { scope, ...body });
      return api.integrations.rotate(slug, connection.id, { overlapSeconds: Number(overlap), ...body });
    },
    onSuccess: (made) => {
      toast(connection === undefined ? w.connected(name) : w.rotated);
      readAnew(integration);
      const ours = given === '' && theirs === undefined;
      onGiven(ours ? made.secret : null, given === '' && theirs !== undefined);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const lacks = connection !== undefined && theirs !== undefined && given === '';
    setMissing(lacks);
    if (!lacks) give.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={connection === undefined ? w.connectTitle(name) : w.rotateTitle}>
      <form className={own.fields} onSubmit={submit} noValidate>
        {connection === undefined && (
          <>
            <p>{w.connectScope[scope]}</p>
            <p>{w.steps[slug] ?? w.stepsOther}</p>
          </>
        )}
        <TextField
          label={w.secretOf}
          hint={theirs === undefined ? w.secretMade : w.secretTheirs(name, theirs)}
          said={missing ? w.secretNeeded(name) : saidOf(give.error, 'secret')}
          value={secret}
          mono
          autoComplete="off"
          spellCheck={false}
          maxLength={500}
          onChange={setSecret}
        />
        {connection !== undefined && (
          <Choice
            label={w.overlap}
            said={saidOf(give.error, 'overlapSeconds')}
            value={overlap}
            onChange={setOverlap}
            options={OVERLAPS}
          />
        )}
        <FormFailure error={give.error} fields={['secret', 'overlapSeconds']} />
        <DialogActions onKeep={onClose} type="submit" disabled={give.isPending}>
          {connection === undefined ? w.connectAction : w.rotateAction}
        </DialogActions>
      </form>
    </Dialog>
  );
}

// An object has keys that are numbers in their order, whatever was written.
const OVERLAPS = (['86400', '3600', '604800', '0'] as const).map((seconds) => [seconds, w.overlaps[seconds]] as const);

export function Disconnect({
  integration,
  connection: { id, scope },
  onClose,
  onDone,
}: {
  integration: Integration;
  connection: IntegrationConnection;
  onClose: () => void;
  onDone: () => void;
}) {
  const { slug, name } = integration;
  const can = useCan();
  const { user } = useContext();
  const { data: automations } = useQuery({ ...automationsQuery, enabled: can('automations:read') });
  const waiting = automations?.filter(
    ({ status, triggerEvent, owner }) =>
      status === 'active' &&
      triggerEvent?.startsWith(`${slug}.`) === true &&
      (scope === 'workspace' || owner.id === user.id),
  );
  const disconnect = useMutation({
    mutationFn: () => api.integrations.disconnect(slug, id),
    onSuccess: () => {
      toast(w.disconnected(name));
      readAnew(integration);
      onDone();
    },
  });
  return (
    <Confirm open onClose={onClose} title={w.disconnectTitle(name)} action={w.disconnect} does={disconnect}>
      <p>{w.disconnectText}</p>
      {waiting !== undefined && waiting.length > 0 && (
        <p>{w.disconnectBound(waiting.map((automation) => automation.name).join(', '))}</p>
      )}
    </Confirm>
  );
}
