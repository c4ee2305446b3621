import { useMutation, useQuery } from '@tanstack/react-query';
import { noticesQuery } from '../../../api/account-queries.ts';
import { api, type Notices } from '../../../api/client.ts';
import { queryClient } from '../../../api/queries.ts';
import { useContext } from '../../../shell/can.ts';
import { endPush, pushState, takePush } from '../../../shell/push.ts';
import { PUSH, remember, remembered } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Button, toastError } from '../../../ui/ui.tsx';
import { Section } from '../section.tsx';
import css from './notices.module.css';

/** Whether the browser that one looks at takes notices, and how many do. */
export function ThisBrowser({ push }: { push: Notices['push'] }) {
  const { user } = useContext();
  const { data: state = 'off', refetch } = useQuery({
    queryKey: ['push', user.id],
    queryFn: async () => {
      const state = await pushState();
      // Another person may have turned it on here.
      return state === 'on' && remembered(PUSH, '') !== user.id ? 'off' : state;
    },
    networkMode: 'always',
  });
  const turn = useMutation({
    mutationFn: async () => {
      if (state === 'on') await endPush(api.notices);
      else await takePush(api.notices, push.publicKey);
      remember(PUSH, state === 'on' ? '' : user.id);
    },
    onError: toastError,
    onSettled: () => Promise.all([refetch(), queryClient.invalidateQueries({ queryKey: noticesQuery.queryKey })]),
  });
  return (
    <Section title={t.notices.browser} about={t.notices.browserAbout}>
      <p className={css.said}>
        {t.notices.here[state]} {t.notices.count(push.subscriptions)}
      </p>
      {(state === 'on' || state === 'off') && (
        <Button look={state === 'on' ? 'plain' : 'primary'} disabled={turn.isPending} onClick={() => turn.mutate()}>
          {state === 'on' ? t.notices.turnOff : t.notices.turnOn}
        </Button>
      )}
    </Section>
  );
}
