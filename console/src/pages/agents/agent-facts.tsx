import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Link } from 'wouter';
import type { Agent, AgentVersion } from '../../api/client.ts';
import { modelsQuery } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { Code } from '../../ui/code.tsx';
import { Fact, Facts } from '../../ui/records.tsx';
import { budgetWords } from '../automations/automation-facts.tsx';
import { ChecksFact } from '../checks/checks-fact.tsx';
import { McpFact } from '../settings/mcp-fact.tsx';
import { hrefOf as skillOf } from '../settings/skills/places.ts';

/** What a version of an agent says. */
export function AgentFacts({ of }: { of: Agent | AgentVersion }) {
  const w = t.agents;
  const { instructions, model, effort, approvals, budget, repository, tools, web, environment, outputSchema, tags } =
    of;
  const { data: models = [] } = useQuery(modelsQuery);
  return (
    <>
      {instructions.trim() !== '' && <Code code={instructions} language="markdown" label={w.instructions} />}
      <Facts>
        {instructions.trim() === '' && <Fact name={w.instructions}>{w.nothing}</Fact>}
        <Fact name={w.model}>
          {model === null ? w.modelDefault : (models.find(({ id }) => id === model)?.name ?? model)}
        </Fact>
        <Fact name={w.effort}>{effort === null ? w.effortDefault : t.automations.efforts[effort]}</Fact>
        <Fact name={w.approvals}>{t.automations.approval[approvals]}</Fact>
        <Fact name={w.tools}>{tools.deny.length === 0 ? w.allTools : tools.deny.join(', ')}</Fact>
        {of.skills !== null && (
          <Fact name={t.skillField.label}>
            {of.skills.length === 0 && t.skillField.none}
            {of.skills.map((one, at) => (
              <Fragment key={one}>
                {at > 0 && ', '}
                <Link href={skillOf(...atVersion(one))}>{one}</Link>
              </Fragment>
            ))}
          </Fact>
        )}
        <McpFact of={of.mcpServers} />
        <Fact name={w.web}>{w.webs[web === false ? 'off' : 'usual']}</Fact>
        <Fact name={w.budget}>{budgetWords(budget)}</Fact>
        <Fact name={w.repository}>{repository === null ? w.nothing : repository.url.replace(/^https?:\/\//, '')}</Fact>
        <Fact name={w.environment}>{environment === null ? w.asUsual : t.automations.environment(environment)}</Fact>
        <Fact name={t.checks.title}>
          <ChecksFact of="environment" {...of} />
        </Fact>
        <Fact name={w.schema}>{outputSchema === null ? w.anyText : w.hasSchema}</Fact>
        {tags.length > 0 && <Fact name={w.tags}>{tags.join(', ')}</Fact>}
      </Facts>
    </>
  );
}

/** `name` or `name@3`. */
function atVersion(skill: string): [name: string, version?: number] {
  const [name = '', version] = skill.split('@');
  return version === undefined ? [name] : [name, Number(version)];
}
