import { useState } from 'react';
import { NotificationSwitch } from '../../shell/notification-switch.tsx';
import { ShortcutList } from '../../shell/shortcuts.tsx';
import { setTheme, type Theme, useTheme } from '../../shell/theme.ts';
import { t } from '../../texts/index.ts';
import { Button, Segmented } from '../../ui/ui.tsx';
import { Section } from './section.tsx';

const THEMES: Theme[] = ['system', 'light', 'dark'];

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
