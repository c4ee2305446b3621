import { useQuery } from '@tanstack/react-query';
import { type RateLimits, rateLimitsQuery } from '../../api/account-queries.ts';
import { limits } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { count } from '../../ui/format.ts';
import { NothingYet } from '../../ui/nothing.tsx';
import { Table } from '../../ui/table.tsx';
import { Section } from './section.tsx';
import own from './settings.module.css';

export function Limits() {
  const { limits: texts } = t.settings;
  const { data, error, refetch } = useQuery(rateLimitsQuery);
  return (
    <Section title={texts.title} about={texts.about}>
      {data === undefined && <NothingYet error={error} refetch={refetch} h={160} />}
      {data !== undefined && <Plans {...data} />}
      {limits.limit > 0 && (
        <p className={own.weak}>
          {texts.now(
            count(limits.remaining),
            count(limits.limit),
            count(limits.globalRemaining),
            count(limits.globalLimit),
            limits.policy,
          )}
        </p>
      )}
    </Section>
  );
}

function Plans({ free, paid }: RateLimits) {
  const { limits: texts } = t.settings;
  const plans = [free, paid];
  // The headers of an answer say a number alone.
  const yours = plans.findIndex(({ global }) => global.capacity === limits.globalLimit);
  const head = [texts.free, texts.paid].map((name, index) => (index === yours ? `${name} (${texts.yours})` : name));
  const policies = Object.keys(paid.policies);
  return (
    <Table label={texts.title} head={[texts.bucket, ...head]}>
      {policies.map((policy) => (
        <tr key={policy}>
          <th scope="row">{texts.policies[policy] ?? policy}</th>
          {plans.map(({ policies: { [policy]: bucket } }, index) => (
            <td key={index}>{bucket && texts.per(count(bucket.capacity), bucket.windowSeconds)}</td>
          ))}
        </tr>
      ))}
      <tr>
        <th scope="row">{texts.global}</th>
        {plans.map(({ global }, index) => (
          <td key={index}>{texts.per(count(global.capacity), global.windowSeconds)}</td>
        ))}
      </tr>
    </Table>
  );
}
