// What the model writes at this moment: drawn with each frame, and replaced by the message once there is one.
import type { Message } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Markdown } from '../../ui/markdown.tsx';
import { useWritten } from './live.ts';
import { Spinner } from './steps-view.tsx';
import css from './conversation.module.css';

/** So much of the end of a thought is shown while it grows, in characters. */
const THOUGHT = 1500;

export function Written({ messages }: { messages: readonly Message[] }) {
  const message = useWritten();
  // In the same drawing as its message comes: never both, and never neither.
  if (message === null || messages.some(({ id }) => id === message.id)) return null;
  const parts = [...message.parts].sort(([a], [b]) => a - b);
  return (
    <div className={css.written} aria-busy>
      {parts.map(([index, { type, text }]) =>
        type === 'text' ? (
          <div key={index} className={css.say}>
            <Markdown text={text} />
          </div>
        ) : (
          <section key={index} className={css.thinking} aria-label={t.task.thinking}>
            <header>
              <Spinner /> {t.task.thinking}
            </header>
            {index === parts.at(-1)?.[0] && <p>{text.length > THOUGHT ? `… ${text.slice(-THOUGHT)}` : text}</p>}
          </section>
        ),
      )}
    </div>
  );
}
