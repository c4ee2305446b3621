import { t } from '../texts/index.ts';
import { form } from './form.tsx';
import { Button, copy } from './ui.tsx';

/** A secret that is shown once. No dialog: a click beside it would lose it. */
export const Secret = ({
  title,
  about = t.form.secretOnce,
  done = t.form.done,
  secret,
  autoFocus = false,
  onDone,
}: {
  title: string;
  about?: string;
  done?: string;
  secret: string;
  autoFocus?: boolean;
  onDone: () => void;
}) => (
  <section className={form.secret} aria-label={title}>
    <strong>{title}</strong>
    <p>{about}</p>
    <output>{secret}</output>
    <div>
      <Button icon="Copy" autoFocus={autoFocus} onClick={() => void copy(secret)}>
        {t.form.copySecret}
      </Button>
      <Button look="ghost" onClick={onDone}>
        {done}
      </Button>
    </div>
  </section>
);
