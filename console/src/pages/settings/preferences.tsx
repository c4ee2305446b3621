import { useState } from 'react';
import { setNotifications, useNotifications } from '../../shell/notifications.ts';
import { ShortcutList } from '../../shell/shortcuts.tsx';
import { setTheme, type Theme, THEMES, useTheme } from '../../shell/theme.tsx';
import { t } from '../../texts/index.ts';
import { Button, Segmented, toastError } from '../../ui/ui.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

export function Preferences() {
  const theme = useTheme();
  const [keys, setKeys] = useState(false);
  const { preferences: texts } = t.settings;
  return (
    <>
      <Section title={texts.theme.title} about={texts.theme.about}>
        <Segmented<Theme>
          label={texts.theme.label}
          value={theme}
          onChange={setTheme}
          options={THEMES.map((value) => ({ value, label: texts.themes[value] }))}
        />
      </Section>
      <Section title={texts.notifications.title} about={texts.notifications.about}>
        <NotificationSwitch />
      </Section>
      <Section title={texts.shortcuts.title} about={texts.shortcuts.about}>
        <Button icon="Keyboard" onClick={() => setKeys(true)}>
          {texts.shortcuts.show}
        </Button>
      </Section>
      <ShortcutList open={keys} onClose={() => setKeys(false)} />
    </>
  );
}

/** Off until somebody asks for it, because the browser then asks for permission. */
function NotificationSwitch() {
  const state = useNotifications();
  const possible = state === 'on' || state === 'off';
  return (
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
        <small>{possible ? t.notifications.about : t.notifications[state]}</small>
      </span>
    </label>
  );
}
