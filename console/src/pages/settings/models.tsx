import { useQuery } from '@tanstack/react-query';
import type { Model } from '../../api/client.ts';
import { modelsQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Command } from '../../ui/command.tsx';
import { count } from '../../ui/format.ts';
import { NothingYet } from '../../ui/nothing.tsx';
import { records } from '../../ui/records.tsx';
import { McpServers } from './mcp-servers.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

export function Models() {
  const { models: texts } = t.settings;
  const { data: models, error, refetch } = useQuery(modelsQuery);
  return (
    <>
      <Section title={texts.title} about={texts.about}>
        {models === undefined && <NothingYet error={error} refetch={refetch} h={120} />}
        {models?.length === 0 && <p className={own.weak}>{texts.empty}</p>}
        {models !== undefined && models.length > 0 && (
          <ul className={own.rows}>
            {models.map((model) => (
              <Row key={model.id} model={model} />
            ))}
          </ul>
        )}
        <Adding />
      </Section>
      <McpServers />
    </>
  );
}

/** The console cannot: keys of providers are the operator's. */
function Adding() {
  const { models: texts } = t.settings;
  return (
    <details className={records.more}>
      <summary>{texts.add}</summary>
      <div className={own.lines}>
        <p>{texts.addText}</p>
        {texts.addLines.map((line) => (
          <Command key={line} line={line} />
        ))}
        <p>{texts.addFile}</p>
        <Command line={texts.addFileLine} />
        <Command line={texts.addJson} />
        <p>{texts.addRestart}</p>
      </div>
    </details>
  );
}

function Row({ model }: { model: Model }) {
  const { models: texts } = t.settings;
  const { name, description, status, contextWindow, efforts, defaultEffort, engine, input } = model;
  const facts = [
    engine !== null && t.engines.of(engine),
    contextWindow !== null && texts.context(count(contextWindow)),
    efforts.length > 0 &&
      texts.efforts(
        efforts
          .map((effort) => (texts.effort[effort] ?? effort) + (effort === defaultEffort ? ` (${texts.default})` : ''))
          .join(', '),
      ),
    input.length > 0 && texts.input(input.map((kind) => texts.kinds[kind]).join(', ')),
  ].filter((fact) => fact !== false);
  return (
    <li className={own.row}>
      <div className="grow">
        <span className={own.name}>
          <strong>{name}</strong>
          <code>{model.id}</code>
          {model.default && <em>{texts.default}</em>}
        </span>
        <p className={own.text}>{description}</p>
        <p className={own.about}>
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
        {status === 'unavailable' && <p className={own.about}>{texts.unavailableNote}</p>}
      </div>
      <span className={own.health} data-status={status}>
        {texts.status[status]}
      </span>
    </li>
  );
}
