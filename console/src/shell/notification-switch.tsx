import { t } from '../texts/index.ts';
import { toastError } from '../ui/ui.tsx';
import { setNotifications, useNotifications } from './notifications.ts';
import css from './shell.module.css';

/** For the settings: off until somebody asks for it, because the browser then asks for permission. */
export function NotificationSwitch() {
  const state = useNotifications();
  const possible = state === 'on' || state === 'off';
  return (
    <label className={css.switch}>
      <input
        type="checkbox"
        role="switch"
        checked={state === 'on'}
        disabled={!possible}
        onChange={({ target: { checked } }) => void setNotifications(checked).catch(toastError)}
      />
      <span>
        {t.notifications.label}
        <small>{possible ? t.notifications.about : t.notifications[state]}</small>
      </span>
    </label>
  );
}
