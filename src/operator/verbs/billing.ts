// The verb `workspace plan` (reference §14, §16).
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { Workspace } from '../../access/workspaces/workspace.entity.js';
import { type UsageWindow, usageWindowSchema } from '../../platform/config/plans.js';
import { PLANS } from '../../platform/config/rate-limits.js';
import { microsOf, usd } from '../../platform/money/usd.js';
import { momentOf } from '../../platform/text/instant.js';
import { type AccountChange, BillingAccounts } from '../../resources/billing/billing-accounts.js';
import type { BillingAccount } from '../../resources/billing/billing-provider.js';
import { inWords, ofWorkspace, type Options, type Verb, verb, workspaceOf } from './verb.js';

/** `none`: as the plan says. The parser of an option cannot give null. */
type Usage = UsageWindow[] | 'none';

interface PlanOptions extends Options {
  usage?: Usage;
  topUp?: number;
  status?: NonNullable<AccountChange['status']>;
  renews?: Date;
}

interface PlanAnswer {
  workspace: Pick<Workspace, 'id' | 'slug'> &
    Omit<BillingAccount, 'workspaceId' | 'windows' | 'topUpMicros'> & {
      /** `allowance` and `used` in the unit: turns, tokens, or USD. */
      usage: { window: string; unit: string; allowance: number; used: number; resetsAt: string }[];
      topUp: { balance: string; currency: 'USD' };
    };
}

/** Without a change it shows the plan and what is used. */
const plan: Verb<PlanAnswer> = async (services, options) => {
  const { plan, usage, topUp: topUpMicros, status, renews: renewsAt } = options as PlanOptions;
  if (status === 'canceled' && renewsAt !== undefined) throw new OperatorError('What is canceled does not renew.');
  const { id, slug } = await workspaceOf(services, options);
  const accounts = services.get(BillingAccounts);
  const given = { plan, usage: usage === 'none' ? null : usage, topUpMicros, status, renewsAt };
  const change = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as AccountChange;
  if (Object.keys(change).length > 0) await accounts.change(id, change);
  return { workspace: { id, slug, ...viewOf(await accounts.get(id)) } };
};

function viewOf({ plan, subscription, renewal, windows, topUpMicros }: BillingAccount) {
  const usage = windows.map(({ allowance, used, resetsAt, ...one }) => {
    const scale = one.unit === 'cost' ? 1e6 : 1;
    return { ...one, allowance: allowance / scale, used: used / scale, resetsAt: new Date(resetsAt).toISOString() };
  });
  return { plan, subscription, renewal, usage, topUp: { balance: usd(topUpMicros), currency: 'USD' as const } };
}

function planInWords({ workspace: { id, slug, plan, subscription, renewal, usage, topUp } }: PlanAnswer): string {
  const used = usage.map(({ window, unit, allowance, used, resetsAt }) => {
    return [
      `${unit} of this ${window}`,
      `${used} of ${allowance}${unit === 'cost' ? ' USD' : ''}, anew at ${resetsAt}`,
    ];
  });
  const windows = used.length === 0 ? { usage: 'no windows' } : (Object.fromEntries(used) as object);
  const top = { topUp: `${topUp.balance} ${topUp.currency}` };
  return inWords({ workspace: { id, slug, plan, subscription: subscription.status, ...renewal, ...windows, ...top } });
}

/** `month:tasks:100`; several make a list, and `none` stands alone. */
function allowance(text: string, before: Usage | undefined): Usage {
  const none = text === 'none';
  if (before === 'none' || (none && before !== undefined)) throw new InvalidArgumentError("'none' stands alone.");
  if (none) return 'none';
  const [window, unit, amount = '', ...rest] = text.split(':');
  const given = { window, unit, allowance: /^[\d.]+$/.test(amount) ? Number(amount) : null };
  const parsed = usageWindowSchema.safeParse(given);
  if (!parsed.success || rest.length > 0) {
    throw new InvalidArgumentError(
      "WINDOW:UNIT:ALLOWANCE is expected, such as month:tasks:100, day:tokens:2000000 or week:cost:12.50; or 'none'.",
    );
  }
  if (before?.some((one) => one.window === window && one.unit === unit) === true) {
    throw new InvalidArgumentError(`${window}:${unit} is given twice.`);
  }
  return [...(before ?? []), parsed.data];
}

/** Micro-dollars. */
function money(text: string): number {
  const [, sign, amount] = /^(-?)(\d{1,9}(?:\.\d{1,6})?)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError(
      'An amount in USD is expected, such as 12.50, below 1,000,000,000 and with at most 6 decimals.',
    );
  return sign === '-' ? -microsOf(amount) : microsOf(amount);
}

function date(text: string): Date {
  const instant = momentOf(text);
  if (instant === null) throw new InvalidArgumentError('A date is expected, such as 2026-12-31.');
  return instant;
}

/** Adds the verb to the group of workspaces. */
export function plans(group: Command): void {
  ofWorkspace(verb(group, 'plan', plan, { words: planInWords }))
    .description('shows or sets what a workspace may use, and shows what it has used')
    .example('--workspace acme --usage month:tasks:500 --top-up 12.50')
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLANS))
    .addOption(
      new Option(
        '--usage <window:unit:allowance>',
        "an allowance of its own, in place of that of its plan; repeatable; 'none': as the plan says",
      ).argParser(allowance),
    )
    .addOption(new Option('--top-up <usd>', 'adds to what pays for use beyond the allowances').argParser(money))
    .addOption(new Option('--status <status>', 'of its subscription').choices(['active', 'past_due', 'canceled']))
    .addOption(new Option('--renews <date>', 'when its subscription renews').argParser(date));
}
