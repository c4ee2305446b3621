import { setNotifications, useNotifications } from '../../shell/notifications.ts';
import { t } from '../../texts/index.ts';
import { toastError } from '../../ui/ui.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

/** Off until somebody asks for it, because the browser then asks for permission. */
export function Notifications() {
  const state = useNotifications();
  const possible = state === 'on' || state === 'off';
  return (
    <Section title={t.notifications.title} about={t.notifications.about}>
      <label className={own.switch}>
        <input
          type="checkbox"
          role="switch"
          checked={state === 'on'}
          disabled={!possible}
          onChange={({ target: { checked } }) => void setNotifications(checked).catch(toastError)}
        />
        <span>
          {t.notifications.label}
          {!possible && <small>{t.notifications[state]}</small>}
        </span>
      </label>
    </Section>
  );
}
