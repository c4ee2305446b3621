import type { Environment, EnvironmentVersion } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Code, exactly } from '../../../ui/code.tsx';
import { bytes, duration } from '../../../ui/format.ts';
import { Fact, Facts } from '../../../ui/records.tsx';
import { Tag } from '../../../ui/tags.tsx';
import { ChecksFact } from '../../checks/checks-fact.tsx';
import { McpFact } from '../mcp-fact.tsx';
import css from './environments.module.css';

/** What a version of an environment says. */
export function DefinitionFacts({ of }: { of: Environment | EnvironmentVersion }) {
  const texts = t.environments;
  const { repository, setup, variables, allowHosts, secrets, tools, resources, refresh, onFailure } = of;
  const { memoryBytes, diskBytes, wallClockSeconds } = resources;
  const limits = [
    memoryBytes !== null && texts.memory(bytes(memoryBytes)),
    diskBytes !== null && texts.disk(bytes(diskBytes)),
    wallClockSeconds !== null && texts.wallClock(duration(wallClockSeconds * 1000)),
  ].filter((one) => one !== false);
  return (
    <>
      {setup.length > 0 && (
        <ol className={css.setup} aria-label={texts.setup}>
          {setup.map((command, n) => (
            <li key={n}>
              <Code code={command} language="bash" label={texts.command(n + 1)} />
            </li>
          ))}
        </ol>
      )}
      <Facts>
        {setup.length === 0 && <Fact name={texts.setup}>{texts.nothing}</Fact>}
        <Fact name={texts.repository}>
          {repository === null ? (
            texts.nothing
          ) : (
            <>
              {repository.url.replace(/^https?:\/\//, '')} {repository.ref !== null && texts.branch(repository.ref)}
            </>
          )}
        </Fact>
        <Fact name={texts.hosts}>
          <Words of={allowHosts} none={texts.noHosts} />
        </Fact>
        <Fact name={texts.secrets}>
          <Words of={secrets} none={texts.nothing} />
        </Fact>
        <Fact name={texts.variables}>
          {Object.keys(variables).length === 0 && texts.nothing}
          {Object.entries(variables).map(([name, value]) => (
            <code key={name} className={css.variable}>
              {name}={exactly(value)}
            </code>
          ))}
        </Fact>
        <Fact name={texts.tools}>
          <Words of={Object.entries(tools).map((pair) => pair.join(' '))} none={texts.nothing} />
        </Fact>
        <Fact name={texts.resources}>{limits.length === 0 ? texts.asOperator : limits.join(', ')}</Fact>
        <Fact name={texts.refresh}>
          {typeof refresh === 'string' ? texts.refreshes[refresh] : texts.refreshes.onLockfile}
          {typeof refresh === 'object' && <Words of={refresh.onLockfile} none="" />}
        </Fact>
        <Fact name={texts.onFailure}>{texts.onFailures[onFailure]}</Fact>
        <McpFact of={of.mcpServers} />
        <Fact name={t.checks.title}>
          <ChecksFact of="environment" {...of} />
        </Fact>
      </Facts>
    </>
  );
}

const Words = ({ of, none }: { of: string[]; none: string }) =>
  of.length === 0 ? (
    none
  ) : (
    <span className={css.words}>
      {of.map((word) => (
        <Tag key={word}>{word}</Tag>
      ))}
    </span>
  );
