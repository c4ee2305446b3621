import type { Key } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { fullTime, until } from '../../ui/format.ts';
import { ALL_SCOPES } from './scopes.ts';
import own from './settings.module.css';

/** What is known of a key, but for its secret. */
export function KeyFacts({ of: { name, prefix, scopes, lastUsedAt, expiresAt, current } }: { of: Key }) {
  const { keys: texts } = t.settings;
  const all = scopes.length === ALL_SCOPES.length;
  return (
    <div className="grow">
      <span className={own.name}>
        <strong>{name}</strong>
        <code>{prefix}…</code>
        {current && <em>{texts.current}</em>}
      </span>
      <p className={own.about}>
        <span title={scopes.join(', ')}>{all ? texts.all : scopes.join(', ')}</span>
        <span>
          {lastUsedAt === null ? (
            texts.neverUsed
          ) : (
            <>
              {texts.lastUsed} <Ago at={lastUsedAt} />
            </>
          )}
        </span>
        <span>
          {expiresAt === null ? (
            texts.neverExpires
          ) : (
            <time dateTime={expiresAt} title={fullTime(expiresAt)}>
              {texts.expiresAt(until(expiresAt))}
            </time>
          )}
        </span>
      </p>
    </div>
  );
}
