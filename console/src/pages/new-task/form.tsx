import { useMutation, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useRef } from 'react';
import { useLocation } from 'wouter';
import { api, MillwrightError, type Model } from '../../api/client.ts';
import { agentsQuery } from '../../api/agent-queries.ts';
import { modelsQuery, queryClient, taskQuery } from '../../api/queries.ts';
import { useKeyFor } from '../../api/task-actions.ts';
import { useCan } from '../../shell/can.ts';
import { Body } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { AttachButton, AttachmentList, type Attachments, useDrop } from '../../ui/attachments.tsx';
import { named, saidOf, useFaultInFocus } from '../../ui/form.tsx';
import { count } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Button, cx, Failure, toast, ui } from '../../ui/ui.tsx';
import { RepositoryFields } from '../repositories/repository-fields.tsx';
import { bodyOf, type Draft, EMPTY, FieldError, isEmpty, nameOf } from './draft.ts';
import css from './new-task.module.css';
import { Options } from './options.tsx';

/** As the service has it, in characters. */
const LONGEST = 200_000;
/** The fields that show what is said of them. */
const FIELDS =
  /^(content|attachments|title|projectId|environment|agent|skills|mcpServers|model|effort|approvals|web|budget|repository|checks|maxRepairs|tags|outputSchema)\b/;

export function NewTaskForm({
  draft,
  change,
  forget,
  reset,
  attachments,
  from,
}: {
  draft: Draft;
  change: (values: Partial<Draft>) => void;
  forget: () => void;
  reset: () => void;
  attachments: Attachments;
  from?: string;
}) {
  const can = useCan();
  const [, navigate] = useLocation();
  const form = useRef<HTMLFormElement>(null);
  const uploads = can('files:write');
  const drop = useDrop(attachments, uploads);
  const { data: models } = useQuery(modelsQuery);
  const { data: agents = [] } = useQuery({ ...agentsQuery, enabled: can('projects:read') });
  const [slug = ''] = draft.agent.split('@');
  const ofAgent = agents.find((one) => (slug === '' ? one.default : one.slug === slug))?.model ?? null;
  const usual = draft.model || ofAgent;
  const model = models?.find((one) => (usual === null ? one.default : one.id === usual));
  const { keyFor, forget: forgetKey } = useKeyFor();

  const create = useMutation({
    mutationFn: async () => {
      const body = bodyOf({ ...draft, uploads: attachments.kept });
      return api.tasks.create(body, keyFor(body));
    },
    onSuccess: (task) => {
      forget();
      forgetKey();
      void queryClient.invalidateQueries({ queryKey: ['tasks'] });
      if (can('tasks:read')) {
        queryClient.setQueryData(taskQuery(task.id).queryKey, task);
        navigate(`/tasks/${task.id}`, { replace: true });
      } else {
        attachments.clear();
        reset();
        toast(t.newTask.started);
      }
    },
  });
  const { error } = create;
  const said = (param: string) =>
    error instanceof FieldError ? (error.param === param ? error.message : null) : saidOf(error, param);
  const elsewhere = error !== null && !FIELDS.test(paramOf(error));

  useFaultInFocus(form, error);

  const nothing = draft.content.trim() === '' && attachments.list.length === 0;
  const ready = !nothing && !attachments.busy && !attachments.failed && !create.isPending;
  const start = () => ready && create.mutate();
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') {
      event.preventDefault();
      start();
    }
  };

  return (
    <Body {...drop.handlers}>
      <form
        ref={form}
        className={css.form}
        aria-label={t.newTask.title}
        noValidate
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        {from !== undefined && (
          <p className={css.from}>
            <Icon name="Copy" size={13} />
            <span className="ellipsis">{t.newTask.from(from)}</span>
          </p>
        )}
        <div className={cx(ui.letter, css.card, drop.over && css.over)}>
          <input
            className={css.title}
            value={draft.title}
            maxLength={200}
            onChange={(event) => change({ title: event.target.value })}
            // The task is started by its button or by Ctrl-Enter.
            onKeyDown={(event) => event.key === 'Enter' && !event.ctrlKey && !event.metaKey && event.preventDefault()}
            placeholder={t.newTask.namePlaceholder}
            aria-label={t.newTask.name}
            aria-invalid={said('title') !== null}
          />
          <Said label={t.newTask.name} text={said('title')} />
          <textarea
            className={cx(ui.area, css.content)}
            value={draft.content}
            onChange={(event) => change({ content: event.target.value })}
            placeholder={t.newTask.contentPlaceholder}
            aria-label={t.newTask.content}
            aria-invalid={said('content') !== null}
            maxLength={LONGEST}
            autoFocus
          />
          <Said label={t.newTask.content} text={said('content')} />
          <AttachmentList {...attachments} wrong={indexIn(error)} />
          <Said
            label={t.newTask.attachments}
            text={said('attachments') ?? (attachments.failed ? t.newTask.uploadFailed : null)}
          />
          <div className={css.tools}>
            {uploads && <AttachButton {...attachments} />}
            {isRunbook(model) && draft.content === '' && (
              <Button small look="ghost" icon="FileText" onClick={() => change({ content: t.newTask.sampleText })}>
                {t.newTask.sample}
              </Button>
            )}
            <span className="grow" />
            {draft.content.length > LONGEST * 0.75 && (
              <span className={css.count}>{t.newTask.length(count(draft.content.length), count(LONGEST))}</span>
            )}
          </div>
          {drop.over && <div className={css.dropping}>{t.attachments.drop}</div>}
        </div>

        <RepositoryFields
          draft={draft.repository}
          change={(values) => change({ repository: { ...draft.repository, ...values } })}
          said={said}
          about={nameOf(draft)}
          ofRuns={false}
        />
        <Options draft={draft} change={change} models={models} model={model} said={said} />

        {elsewhere && <Failure error={error} retry={start} />}
        <div className={css.actions}>
          {!isEmpty({ ...draft, projectId: EMPTY.projectId }) && (
            <>
              <span className={css.kept}>{t.newTask.kept}</span>
              <Button look="ghost" onClick={() => (attachments.clear(), reset(), create.reset())}>
                {t.newTask.discard}
              </Button>
            </>
          )}
          <Button type="submit" look="primary" disabled={!ready} keys="Ctrl ↵">
            {create.isPending ? t.newTask.starting : attachments.busy ? t.newTask.uploading : t.newTask.start}
          </Button>
        </div>
      </form>
    </Body>
  );
}

const Said = ({ label, text }: { label: string; text: string | null }) =>
  text !== null && (
    <p className={css.said} role="alert">
      {named(text, label)}
    </p>
  );

/** It carries out what is written, block by block. */
const isRunbook = (model: Model | undefined) => model?.id === 'runbook';

const paramOf = (error: Error) =>
  (error instanceof FieldError || error instanceof MillwrightError ? error.param : null) ?? '';
/** Which of the uploads: `attachments[2].uploadId`. */
const indexIn = (error: Error | null) =>
  Number(/^attachments\[(\d+)\]/.exec(error === null ? '' : paramOf(error))?.[1] ?? -1);
