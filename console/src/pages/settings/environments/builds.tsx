import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EnvironmentBuild } from '../../../api/client.ts';
import { buildsQuery } from '../../../api/environment-queries.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { bytes, duration } from '../../../ui/format.ts';
import { Badge, Pages, records, Section, type Tone } from '../../../ui/records.tsx';
import { Terminal } from '../../../ui/terminal.tsx';
import css from './environments.module.css';

/** The newest first. While one is made they are read again and again, for nothing tells of its output. */
export function Builds({ slug }: { slug: string }) {
  const texts = t.environments;
  const query = useInfiniteQuery(buildsQuery(slug));
  return (
    <Section title={texts.builds} about={texts.buildsAbout}>
      <Pages query={query} empty={<p className={css.weak}>{texts.noBuilds}</p>}>
        {(build) => <Build key={build.id} of={build} />}
      </Pages>
    </Section>
  );
}

const TONES: Record<EnvironmentBuild['state'], Tone> = { building: 'busy', ready: 'good', failed: 'bad' };
/** As much as tells one key from another: it may be a commit. */
const KEY = 10;

function Build({ of: build }: { of: EnvironmentBuild }) {
  const texts = t.environments;
  const { version, key, state, files, bytes: size, log, error, createdAt, finishedAt } = build;
  // What is made, and what has failed, one wants to read; what is ready seldom.
  const [open, setOpen] = useState(state !== 'ready');
  const took = finishedAt === null ? null : new Date(finishedAt).getTime() - new Date(createdAt).getTime();
  return (
    <li className={css.build} aria-label={texts.buildOf(version)}>
      <div className={css.buildHead}>
        <Badge tone={TONES[state]}>{texts.state[state]}</Badge>
        <strong>{texts.buildOf(version)}</strong>
        {key !== '' && (
          <code className="mono" title={key}>
            {texts.from(key.slice(0, KEY))}
          </code>
        )}
        {state === 'ready' && <span className={css.weak}>{texts.holds(files, bytes(size))}</span>}
        <span className="grow" />
        <span className={css.weak}>
          <Ago at={createdAt} /> {took !== null && texts.took(duration(took))}
        </span>
      </div>
      {error !== null && <p className={records.reason}>{error}</p>}
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.log}</summary>
        {open &&
          (log === '' ? (
            <p className={css.weak}>{texts.noLog}</p>
          ) : (
            <Terminal stdout={log} label={texts.logOf(version)} live={state === 'building'} />
          ))}
      </details>
    </li>
  );
}
