import type { Budget } from '../../engine/agent/agent-engine.js';
import type { ModelCatalog } from '../../engine/models/model-catalog.js';
import type { ModelInfo } from '../../engine/models/model-provider.js';
import type { AgentDefinition } from './definition.js';
import { withAgent } from './with-agent.js';

const NOTHING: AgentDefinition = {
  ...{ instructions: '', model: null, effort: null, approvals: 'none', budget: null, repository: null },
  ...{
    tools: { deny: [] },
    skills: null,
    web: null,
    checks: null,
    maxRepairs: null,
    environment: null,
    outputSchema: null,
  },
  ...{ tags: [], metadata: {} },
};
const MODELS = [
  { id: 'deep', efforts: ['low', 'high'] },
  { id: 'plain', efforts: [] },
] as unknown as ModelInfo[];
const models = {
  find: (id: string) => MODELS.find((one) => one.id === id),
  default: () => MODELS[0],
} as Pick<ModelCatalog, 'find' | 'default'>;
const occasion = { taskId: 'T', now: new Date('2026-02-03T04:05:06Z') };

const [MEMBER, ADMIN] = [{ seesEverything: false }, { seesEverything: true }];
const merged = (given: object, says: Partial<AgentDefinition>, caller = MEMBER) =>
  withAgent(caller, { content: 'x', ...given }, { ...NOTHING, ...says }, models, occasion);

describe('What a task is made of that has an agent (reference §27.5)', () => {
  const schema = { type: 'object' };
  const says = {
    ...{ model: 'deep', effort: 'high' as const, outputSchema: schema, tags: ['a'], metadata: { k: 'v' } },
    repository: { url: 'https://h/r', ref: null, push: { branch: 'mill/{date}-{taskId}', pullRequest: null } },
    ...{ environment: { slug: 'node', version: 2 }, checks: [], maxRepairs: 1 },
  };

  it('what it does not say is as the agent says, its branch with the placeholders filled in', () => {
    expect(merged({}, says)).toMatchObject({
      ...says,
      content: 'x',
      repository: { url: 'https://h/r', push: { branch: 'mill/2026-02-03-T' } },
    });
  });

  it('what it says wins: model, effort, schema, repository, environment, checks, tags, metadata', () => {
    const given = {
      ...{ model: 'plain', effort: 'low', outputSchema: null, tags: [], metadata: {} },
      ...{ repository: { url: 'https://h/other' }, environment: null, checks: [{ name: 'a', command: 'b' }], maxRepairs: 0 }, // prettier-ignore
    };
    expect(merged(given, says)).toMatchObject(given);
  });

  it('has the effort of the agent with another model only when that takes it', () => {
    expect(merged({ model: 'plain' }, says).effort).toBeUndefined();
    expect(merged({}, { effort: 'high' }).effort).toBe('high');
    expect(merged({}, { effort: 'medium' }).effort).toBeUndefined();
  });

  it.each([
    ['none', 'writes', 'writes', 'none'],
    ['none', 'secrets', 'secrets', 'none'],
    ['secrets', 'writes', 'writes', 'secrets'],
    ['writes', 'secrets', 'writes', 'writes'],
    ['writes', 'none', 'writes', 'writes'],
    [undefined, 'writes', 'writes', 'writes'],
  ] as const)('approvals %s under %s are %s of a member, %s of an admin', (given, agent, member, admin) => {
    expect(merged({ approvals: given }, { approvals: agent }).approvals).toBe(member);
    expect(merged({ approvals: given }, { approvals: agent }, ADMIN).approvals).toBe(admin);
  });

  it.each([
    [true, false, false, true],
    [undefined, false, false, false],
    [false, true, false, false],
    [true, null, true, true],
    [undefined, null, undefined, undefined],
    [undefined, true, true, true],
  ])('web %s under %s is %s of a member, %s of an admin', (given, agent, member, admin) => {
    expect(merged({ web: given }, { web: agent }).web).toBe(member);
    expect(merged({ web: given }, { web: agent }, ADMIN).web).toBe(admin);
  });

  it.each<[string[] | null | undefined, string[] | null, string[] | null, string[] | null]>([
    [undefined, ['a@2', 'b'], ['a@2', 'b'], ['a@2', 'b']],
    [null, ['a@2', 'b'], ['a@2', 'b'], ['a@2', 'b']],
    [['a', 'c'], ['a@2', 'b'], ['a@2'], ['a', 'c']],
    [[], ['a@2'], [], []],
    [['c'], null, ['c'], ['c']],
  ])('skills %j under %j are %j of a member, %j of an admin', (given, agent, member, admin) => {
    expect(merged({ skills: given }, { skills: agent }).skills).toEqual(member);
    expect(merged({ skills: given }, { skills: agent }, ADMIN).skills).toEqual(admin);
    // Servers have no versions, and a task says nothing of them with undefined alone.
    const names = (of: string[] | null | undefined) => of?.map((one) => one.replace(/@.*/, ''));
    const servers = (caller: { seesEverything: boolean }) =>
      merged({ mcpServers: names(given) }, { mcpServers: names(agent) ?? null }, caller).mcpServers;
    expect([servers(MEMBER), servers(ADMIN)]).toEqual([names(member), names(admin)]);
  });

  const AGENT: Budget = { maxSteps: 10, maxTokens: 1_000, maxCost: '9.50' };
  it.each<[Budget | null | undefined, Budget | null, Budget | null]>([
    [undefined, AGENT, AGENT],
    [null, AGENT, null],
    [{ maxSteps: 5 }, { ...AGENT, maxSteps: 5 }, { ...AGENT, maxSteps: 5 }],
    [{ maxSteps: 50, maxCost: '10' }, AGENT, { ...AGENT, maxSteps: 50, maxCost: '10' }],
    [{ maxCost: '9.499999' }, { ...AGENT, maxCost: '9.499999' }, { ...AGENT, maxCost: '9.499999' }],
    [{ maxDurationSeconds: 60 }, { ...AGENT, maxDurationSeconds: 60 }, { ...AGENT, maxDurationSeconds: 60 }],
  ])('a budget of %j is the smaller of each limit of a member, and its own of an admin', (budget, member, admin) => {
    expect(merged({ budget }, { budget: AGENT }).budget).toEqual(member);
    expect(merged({ budget }, { budget: AGENT }, ADMIN).budget).toEqual(admin);
    expect(merged({ budget }, {}).budget).toEqual(budget === undefined ? null : budget);
  });
});
