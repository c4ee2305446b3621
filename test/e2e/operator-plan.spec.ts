import { useService } from '../harness/app.js';
import { allow, useToday } from '../harness/billing.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';

interface Plan {
  workspace: {
    id: string;
    slug: string;
    plan: string;
    subscription: { status: string; cancelAtPeriodEnd: boolean };
    renewal: { renewsAt: string | null; endsAt: string | null };
    usage: { window: string; unit: string; allowance: number; used: number; resetsAt: string }[];
    topUp: { balance: string; currency: string };
  };
}

describe('workspace plan of the operator command (reference §14, §16)', () => {
  const service = useService();
  let member: Member;
  beforeEach(async () => {
    member = await makeMember(service);
  });

  const line = (more: string[]) => ['workspace', 'plan', '--workspace', member.workspace.slug, ...more];
  const plan = async (...more: string[]) => (await new Operator(service).json<Plan>(...line(more))).workspace;
  const words = (...more: string[]) => new Operator(service).run(...line(more));
  const create = () => member.client.post<ErrorBody>('/v1/tasks', { content: 'x' });
  const summary = async () => (await member.client.get('/v1/billing/summary')).body;

  it('shows the plan and what is used, for people too, and changes nothing', async () => {
    await allow(service, member, [{ window: 'month', unit: 'cost', allowance: 12.5 }, { window: 'day', unit: 'tasks', allowance: 3 }], 100); // prettier-ignore
    await useToday(service, member, { tasks: 2, costMicros: 12_345 });
    const resetsAt = expect.stringMatching(/T00:00:00\.000Z$/) as string;
    const shown = {
      id: member.workspace.id,
      slug: member.workspace.slug,
      plan: 'paid',
      subscription: { status: 'none', cancelAtPeriodEnd: false },
      renewal: { renewsAt: null, endsAt: null },
      usage: [
        { window: 'month', unit: 'cost', allowance: 12.5, used: 0.012345, resetsAt },
        { window: 'day', unit: 'tasks', allowance: 3, used: 2, resetsAt },
      ],
      topUp: { balance: '0.0001', currency: 'USD' },
    };
    expect(await plan()).toEqual(shown);
    const text = await words();
    expect(text).toMatch(/^cost of this month: 0\.012345 of 12\.5 USD, anew at \d{4}-\d\d-01T/m);
    expect(text).toMatch(/^tasks of this day: 2 of 3, anew at /m);
    expect(text).toContain('topUp: 0.0001 USD');
    expect(await plan()).toEqual(shown);
  });

  it('sets an allowance of the workspace in place of that of its plan, at once, and leaves the others; none clears', async () => {
    const before = await plan('--plan', 'free');
    expect(before).toMatchObject({ plan: 'free', usage: [{ window: 'month', unit: 'tasks', allowance: 100 }] });
    await useToday(service, member, { tasks: 5, tokens: 10 });
    const added = await plan('--usage', 'day:cost:1');
    expect(added.usage.map(({ unit, allowance }) => [unit, allowance]).sort()).toEqual([['cost', 1], ['tasks', 100]]); // prettier-ignore
    await plan('--usage', 'none');
    const own = await plan('--usage', 'month:tasks:5', '--usage', 'day:tokens:2000000');
    expect(own.usage).toMatchObject([{ unit: 'tasks', allowance: 5, used: 5 }, { unit: 'tokens', allowance: 2_000_000, used: 10 }]); // prettier-ignore
    expect((await create()).body.error.code).toBe('usage_exhausted');
    // The same window and unit is replaced, and the other stays.
    expect((await plan('--usage', 'month:tasks:6')).usage.map(({ unit, allowance }) => [unit, allowance]).sort()).toEqual([['tasks', 6], ['tokens', 2_000_000]]); // prettier-ignore
    expect((await create()).status).toBe(201);
    expect((await plan('--usage', 'none')).usage).toMatchObject([{ window: 'month', unit: 'tasks', allowance: 100 }]);
  });

  it('adds to the top-up, takes back from it, and never more than it has', async () => {
    await plan('--top-up', '12.50');
    await plan('--top-up', '0.000001');
    expect((await plan('--top-up=-2.5')).topUp).toEqual({ balance: '10.000001', currency: 'USD' });
    await expect(plan('--top-up=-10.000002')).rejects.toThrow('The top-up has 10.000001 USD; no more than that');
    expect(await summary()).toMatchObject({ topUp: { balance: '10.000001', currency: 'USD' } });
  });

  it('sets the subscription, which the summary shows; canceled ends it now, and the plan with it', async () => {
    await plan('--status', 'active', '--renews', '2027-01-31');
    const renewsAt = '2027-01-31T00:00:00.000Z';
    expect(await summary()).toMatchObject({
      plan: { id: 'paid' },
      subscription: { status: 'active', cancelAtPeriodEnd: false },
      renewal: { renewsAt, endsAt: null },
    });
    await plan('--status', 'past_due');
    expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'past_due' }, renewal: { renewsAt } }); // prettier-ignore
    expect((await create()).status).toBe(201);
    // As a billing provider writes it that lets a subscription end with its period.
    await service.db.query(`UPDATE workspaces SET ends_at = '2999-01-01', cancel_at_period_end = true WHERE id = $1`, [member.workspace.id]); // prettier-ignore
    const ended = await plan('--status', 'canceled');
    expect(ended).toMatchObject({ plan: 'free', subscription: { status: 'canceled' }, renewal: { renewsAt: null } });
    expect(ended.renewal.endsAt).toMatch(/^20\d\d-/);
    expect(await plan('--status', 'canceled', '--plan', 'paid')).toMatchObject({ plan: 'paid', renewal: ended.renewal }); // prettier-ignore
    expect((await plan('--status', 'active')).renewal).toEqual({ renewsAt: null, endsAt: null });
  });

  it.each([
    [['--usage', 'month:tasks'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'year:tasks:5'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'day:tasks:0'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'day:tasks:1.5'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'day:cost:0.0000001'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'day:tasks:5:6'], 'WINDOW:UNIT:ALLOWANCE is expected'],
    [['--usage', 'none', '--usage', 'day:tasks:5'], "'none' stands alone"],
    [['--usage', 'day:tasks:5', '--usage', 'none'], "'none' stands alone"],
    [['--usage', 'day:tasks:5', '--usage', 'day:tasks:6'], 'day:tasks is given twice'],
    [['--top-up', '1', '--top-up', '2'], "option '--top-up <usd>' is given twice"],
    [['--top-up', '1e3'], 'An amount in USD is expected'],
    [['--top-up', '0.0000001'], 'An amount in USD is expected'],
    [['--status', 'paused'], 'Allowed choices are active, past_due, canceled'],
    [['--plan', 'gold'], 'Allowed choices are free, paid'],
    [['--renews', '2026-02-30'], 'A date is expected'],
    [['--renews', '2027-01-01', '--status', 'canceled'], 'What is canceled does not renew'],
  ])('refuses %j and changes nothing', async (more, message) => {
    const before = await plan();
    await expect(plan('--plan', 'free', ...more)).rejects.toThrow(message);
    expect(await plan()).toEqual(before);
  });
});
