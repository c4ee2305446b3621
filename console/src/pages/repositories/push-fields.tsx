// Whether changes of a task are pushed, and become a pull request. What is not allowed is not offered; a sentence says why.
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { connectionsQuery, placeOf, repositoryQuery } from '../../api/repository-queries.ts';
import { useConnectHindrance } from '../../shell/administration.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Check, TextField } from '../../ui/form.tsx';
import { Button, Skeleton } from '../../ui/ui.tsx';
import { newSalt, OWN, patternFor, PLACEHOLDERS, type RepositoryPart, suggested } from './repository-draft.ts';
import { BranchPicker } from './repository-picker.tsx';
import css from './repositories.module.css';

export function PushFields({ draft, change, said, about, ofRuns }: RepositoryPart) {
  const texts = t.repositories;
  const { data: connections = [] } = useQuery({ ...connectionsQuery, enabled: useCan()('projects:read') });
  const { may, loading } = usePushable(draft.url);
  if (loading && !draft.push) return <Skeleton w="60%" h={20} />;
  const offered = may === 'yes' || may === 'unknown' || draft.push;
  return (
    <div className={css.push}>
      {offered && (
        <label className={css.switch}>
          <input
            type="checkbox"
            role="switch"
            checked={draft.push}
            onChange={({ target: { checked } }) =>
              change({
                push: checked,
                ...(checked && { pattern: patternFor(draft.url, connections), salt: ofRuns ? OWN : newSalt() }),
              })
            }
          />
          <span>
            {texts.open}
            <small>{texts.openAbout}</small>
          </span>
        </label>
      )}
      {may !== 'yes' && !loading && <WhyNot url={draft.url} may={may} />}
      {draft.push && <Fields draft={draft} change={change} said={said} about={about} ofRuns={ofRuns} />}
    </div>
  );
}

function Fields({ draft, change, said, about, ofRuns }: RepositoryPart) {
  const texts = t.repositories;
  const shared = !(draft.branch.trim() || suggested(draft, about)).includes(OWN);
  const ofRun = shared ? texts.oneBranch : texts.runBranchHint;
  const hint = ofRuns ? ofRun : texts.newBranchHint;
  return (
    <div className={css.fields}>
      <div className={css.named}>
        <TextField
          label={texts.newBranch}
          hint={hint}
          said={
            said('repository.push.branch') ??
            (said('repository.push.pullRequest') === null ? said('repository.push') : null)
          }
          value={draft.branch}
          placeholder={suggested(draft, about)}
          mono
          maxLength={255}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          onChange={(branch) => change({ branch })}
        />
        {ofRuns && <Placeholders draft={draft} change={change} about={about} />}
      </div>
      {!draft.alone && (
        <>
          <BranchPicker
            url={draft.url}
            label={texts.base}
            hint=""
            placeholder={draft.ref || texts.basePlaceholder}
            value={draft.base}
            said={said('repository.push.pullRequest.base')}
            onChange={(base) => change({ base })}
          />
          <div className={css.whole}>
            <TextField
              label={texts.title}
              said={said('repository.push.pullRequest.title') ?? said('repository.push.pullRequest')}
              value={draft.title}
              placeholder={texts.titlePlaceholder}
              maxLength={200}
              onChange={(title) => change({ title })}
            />
          </div>
        </>
      )}
      <div className={css.whole}>
        {!draft.alone && (
          <Check checked={draft.draft} onChange={(checked) => change({ draft: checked })}>
            {texts.draft}
          </Check>
        )}
        <Check checked={draft.alone} onChange={(alone) => change({ alone })}>
          {texts.alone}
        </Check>
      </div>
    </div>
  );
}

/** They are added at the end of the name. */
function Placeholders({ draft, change, about }: Pick<RepositoryPart, 'draft' | 'change' | 'about'>) {
  const texts = t.repositories;
  const name = draft.branch.trim() || suggested(draft, about);
  const parted = /[-/]$/.test(name) ? name : `${name}-`;
  return (
    <div role="group" aria-label={texts.placeholders} className={css.placeholders}>
      {PLACEHOLDERS.map((one) => (
        <Button
          key={one}
          small
          icon="Plus"
          title={texts.placeholder[one]}
          aria-label={texts.addPlaceholder(one)}
          onClick={() => change({ branch: name.includes(one) ? name : parted + one })}
        >
          <code>{one}</code>
        </Button>
      ))}
    </div>
  );
}

type May = 'yes' | 'unknown' | 'row' | 'none';

/** Whether tasks may push to a repository; else why not: it only reads, or no connection leads there. */
function usePushable(url: string): { may: May; loading: boolean } {
  const reads = useCan()('projects:read');
  const asks = reads && placeOf(url) !== null;
  const { data, error } = useQuery({ ...repositoryQuery(url), enabled: asks });
  if (!reads || error !== null) return { may: 'unknown', loading: false };
  if (!asks) return { may: 'none', loading: false };
  if (data === undefined) return { may: 'none', loading: true };
  if (data.row !== null) return { may: data.row.pushable ? 'yes' : 'row', loading: false };
  return { may: data.partial ? 'unknown' : 'none', loading: false };
}

const NAMES: Record<string, string> = { 'github.com': 'GitHub', 'gitlab.com': 'GitLab' };

function WhyNot({ url, may }: { url: string; may: May }) {
  const texts = t.repositories;
  const connects = useConnectHindrance() === null;
  const host = placeOf(url)?.host;
  // Of a folder of the service's own machine nothing is pushed.
  if (host === undefined) return null;
  const says = may === 'row' || may === 'none' ? texts.denied[may](host) : texts.unknown;
  return (
    <p className={css.why}>
      {says}{' '}
      {may !== 'unknown' &&
        (connects ? (
          <Link href="/settings?part=repositories">
            {may === 'none' ? texts.connect(NAMES[host] ?? host) : texts.look}
          </Link>
        ) : (
          texts.ask
        ))}
    </p>
  );
}
