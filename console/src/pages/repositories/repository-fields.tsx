// What a task works on, and where its changes go: in every form that begins a task, or says how tasks begin.
import { t } from '../../texts/index.ts';
import { NothingConnected } from './nothing-connected.tsx';
import { PushFields } from './push-fields.tsx';
import css from './repositories.module.css';
import { isAddress, NO_REPOSITORY, type RepositoryPart } from './repository-draft.ts';
import { BranchPicker, RepositoryPicker } from './repository-picker.tsx';

export function RepositoryFields({ draft, change, said, about, ofRuns }: RepositoryPart) {
  const chosen = isAddress(draft.url);
  return (
    <section className={css.whereto} aria-label={t.repositories.repository}>
      <div className={css.place}>
        <RepositoryPicker
          value={draft.url}
          said={
            said('repository.url') ?? ((said('repository.ref') ?? said('repository.push')) ? null : said('repository'))
          }
          onChange={(url) => change({ ...NO_REPOSITORY, url })}
        />
        {chosen && (
          <BranchPicker
            url={draft.url}
            value={draft.ref}
            said={said('repository.ref')}
            onChange={(ref) => change({ ref })}
          />
        )}
      </div>
      {chosen && <PushFields draft={draft} change={change} said={said} about={about} ofRuns={ofRuns} />}
      {draft.url === '' && <NothingConnected />}
    </section>
  );
}
