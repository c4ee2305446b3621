import { useState } from 'react';
import { ShortcutList } from '../../shell/shortcuts.tsx';
import { setTheme, type Theme, THEMES, useTheme } from '../../shell/theme.tsx';
import { t } from '../../texts/index.ts';
import { Button, Segmented } from '../../ui/ui.tsx';
import { Section } from './section.tsx';

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
      <Section title={texts.shortcuts.title} about={texts.shortcuts.about}>
        <Button icon="Keyboard" onClick={() => setKeys(true)}>
          {texts.shortcuts.show}
        </Button>
      </Section>
      <ShortcutList open={keys} onClose={() => setKeys(false)} />
    </>
  );
}
