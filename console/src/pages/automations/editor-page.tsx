import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { automationQuery, changed } from '../../api/automation-queries.ts';
import { api, type Automation } from '../../api/client.ts';
import { useCan, useOwns } from '../../shell/can.ts';
import { Body, page as css, PageHead } from '../../shell/shell.tsx';
import { useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Back, Crumb, Loaded, Note } from '../../ui/records.tsx';
import { toast } from '../../ui/ui.tsx';
import { AutomationForm } from './automation-form.tsx';
import { bodyOf, changesOf, type Draft, draftOf, emptyDraft, keepDraft, keptDraft } from './draft.ts';

const w = t.automationEditor;

/** A new one, perhaps like another (`?from=ID`) or on an event (`?event=NAME`). */
export function NewEditorPage() {
  const can = useCan();
  const [from] = useParam('from', '');
  const query = useQuery({ ...automationQuery(from), enabled: from !== '' });
  return (
    <>
      <PageHead title={w.createTitle} />
      <Body>
        {!can('automations:write') ? (
          <ReadOnly />
        ) : from === '' ? (
          <NewForm before={null} />
        ) : (
          <Loaded form query={query} gone={<Back to="/automations">{t.automations.title}</Back>}>
            {(automation) => <NewForm before={automation} />}
          </Loaded>
        )}
      </Body>
    </>
  );
}

function NewForm({ before }: { before: Automation | null }) {
  const [, navigate] = useLocation();
  const [event] = useParam('event', '');
  // Only what was begun from nothing is kept: the others are begun again from where they came.
  const kept = before === null && event === '';
  const [first] = useState((): Draft => {
    if (before !== null) return draftOf(before);
    return event === '' ? keptDraft() : { ...emptyDraft(), kind: 'webhook', triggerEvent: event };
  });
  return (
    <AutomationForm
      first={first}
      action={[w.create, w.creating]}
      save={(draft) => api.automations.create(bodyOf(draft))}
      onDraft={kept ? keepDraft : undefined}
      onSaved={(automation) => {
        if (kept) keepDraft(null);
        changed(automation);
        toast(w.made);
        navigate(`/automations/${automation.id}`, { replace: true });
      }}
      onCancel={() => {
        if (kept) keepDraft(null);
        navigate('/automations');
      }}
    />
  );
}

export function EditorPage({ id }: { id: string }) {
  const query = useQuery(automationQuery(id));
  return (
    <>
      <PageHead title={w.editTitle} sub={query.data?.name} />
      <Body>
        <Loaded form query={query} gone={<Back to="/automations">{t.automations.title}</Back>}>
          {(automation) => <EditForm automation={automation} />}
        </Loaded>
      </Body>
    </>
  );
}

function EditForm({ automation }: { automation: Automation }) {
  const [, navigate] = useLocation();
  const can = useCan();
  const owns = useOwns();
  const [first] = useState(() => draftOf(automation));
  // As it was when the form was opened: what somebody writes is not taken away.
  const [mayChange] = useState(can('automations:write') && owns(automation.owner));
  const back = `/automations/${automation.id}`;
  if (!mayChange) return <ReadOnly />;
  return (
    <AutomationForm
      first={first}
      action={[w.save, w.saving]}
      save={(draft) => api.automations.update(automation.id, changesOf(first, draft))}
      onSaved={(saved) => {
        changed(saved);
        toast(w.saved);
        navigate(back, { replace: true });
      }}
      onCancel={() => navigate(back)}
    />
  );
}

const ReadOnly = () => (
  <div className={css.page}>
    <Crumb to="/automations">{t.automations.title}</Crumb>
    <Note>{t.automations.readOnly}</Note>
  </div>
);
