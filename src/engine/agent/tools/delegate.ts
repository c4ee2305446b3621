import { z } from 'zod';
import { newId } from '../../../platform/database/ids.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { checkMaxCost, chooseModel } from '../../models/model-choice.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import { AgentTool, type PublishedFile, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { type AgentForTask, type DelegationUse, FOLDERS, type HandedTasks, type NewTask } from '../delegation.js';
import { namedFor } from '../../web/seen-urls.js';
import { resultOf } from './delegate-result.js';
import { budgetOf, type Share, sharesOf, wantedOf } from './delegate-shares.js';
import { toolText } from './tool-text.js';

export const DELEGATE = 'delegate';

/** Tasks that a turn may make, over all its calls. */
const PER_TURN = 32;
const PATCH = 'changes.patch';

const limit = z.int().min(1).max(1_000_000_000_000).optional();
const task = z.strictObject({
  title: z.string().trim().min(1).max(200),
  content: z.string().trim().min(1).max(200_000).describe('All that it needs to know.'),
  agent: z.string().max(105).optional().describe('A slug.'),
  model: z.string().optional(),
  effort: z.enum(['low', 'medium', 'high']).optional(),
  files: z.array(z.string()).max(20).optional().describe('Your paths, for its attachments/.'),
  folder: z.enum(FOLDERS).describe('`repository`: a clone with your changes; `copy`: all your folders.'),
  maxSteps: limit,
  maxTokens: limit,
  maxCost: z
    .string()
    .regex(/^(?=.*[1-9])\d{1,9}(\.\d{1,6})?$/)
    .optional()
    .describe('USD.'),
});
const parameters = z.strictObject({ tasks: z.array(task).min(1).max(8) });
type Asked = z.output<typeof task>;

/** Hands work to tasks of their own (reference §27, docs/decisions/0103). Offered to tasks that are not two levels below another. */
@Plugin(AgentTool, DELEGATE)
export class DelegateTool extends AgentTool<typeof parameters> {
  readonly name = DELEGATE;
  readonly description = toolText(DELEGATE);
  readonly parameters = parameters;
  /** What it has made it finds again. */
  readonly repeatable = true;
  /** What the tasks do is asked about in them. */
  override readonly changes = false;

  constructor(private readonly models: ModelCatalog) {
    super();
  }

  async execute({ tasks }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { delegation: use } = context;
    if (use == null)
      throw new Error('This task is two levels below another, and hands out none: do the work yourself.');
    const made = await use.of();
    if (made.length === 0) return { status: 'tasks', handed: await this.handed(tasks, use, context) };
    return made.every(({ isOver }) => isOver) ? resultOf(made, use, context) : { status: 'tasks', handed: null };
  }

  private async handed(asked: Asked[], use: DelegationUse, context: ToolContext): Promise<HandedTasks> {
    if (use.made + asked.length > PER_TURN) {
      throw new Error(`A turn makes at most ${PER_TURN} tasks; this one has made ${use.made}, and ${asked.length} more are too many.`); // prettier-ignore
    }
    const agents = await agentsOf(asked, use);
    const tasks = this.planned(asked, agents, use, (url) => context.web?.isSeen(url) ?? false);
    if (use.repository === null && asked.some(({ folder }) => folder === 'repository')) {
      throw new Error('The task has no repository: the folder is to be `copy` or `empty`.');
    }
    // They end with the run, so with this call; what the tasks begin with is to be what their maker goes on with.
    const stopped = (await context.commands?.stop()) ?? [];
    const opened: PublishedFile[] = [];
    let close = (): Promise<void> => Promise.resolve();
    try {
      for (const [at, { files = [] }] of asked.entries()) {
        const found = [];
        for (const path of files) found.push(await fileOf(await context.sandbox(), path, `tasks[${at}].files`));
        opened.push(...found);
        tasks[at]?.files.push(...found);
      }
      const wanted = use.repository !== null && asked.some(({ folder }) => folder !== 'empty');
      const changes = wanted ? ((await use.repository?.changes(await context.sandbox())) ?? null) : null;
      if (changes !== null) close = () => changes.close();
      if (changes?.counted.patchOmitted === true) {
        throw new Error('The changes of the repository are larger than a file may be: `folder` is to be `empty`, or `repository` and `copy` when they are less.'); // prettier-ignore
      }
      const patch = changes?.patch ?? null;
      const base =
        patch && ({ id: newId(), name: PATCH, size: patch.size, content: patch.content, forModel: true } as const);
      return { tasks, base, close };
    } catch (error) {
      for (const { content } of opened) content.destroy();
      await close().catch(() => undefined);
      throw withStopped(error, stopped);
    }
  }

  /** The tasks without their files, with their models and their shares. */
  private planned(
    asked: Asked[],
    agents: (AgentForTask | null)[],
    use: DelegationUse,
    isSeen: (url: URL) => boolean,
  ): NewTask[] {
    const left = use.left();
    const wanted = asked.map((one, at) => wantedOf(one, agents[at]?.budget ?? null));
    const shares = sharesOf(wanted, left);
    return asked.map((one, at) => {
      const { title, content, folder } = one;
      const agent = agents[at] ?? null;
      const { model, effort } = this.modelOf(one, agent, use, `tasks[${at}]`);
      const { reserved, limits } = shares[at] as Share;
      const budget = budgetOf(limits, [left.seconds, agent?.budget?.maxDurationSeconds]);
      within(`tasks[${at}]`, () => checkMaxCost(this.models, model, budget?.maxCost));
      const named = namedFor(content, isSeen);
      return { title, content, named, agent, folder, model, effort, budget, reserved, files: [] };
    });
  }

  /** What the call says, else its agent, else its parent. An effort that nobody has asked for here is left out with a model that does not take it. */
  private modelOf({ model, effort }: Asked, agent: AgentForTask | null, { model: own }: DelegationUse, where: string) {
    const id = model ?? agent?.model ?? own.id;
    const takes = this.models.find(id)?.efforts ?? [];
    const usual = agent?.effort != null && takes.includes(agent.effort) ? agent.effort : null;
    const known = effort ?? usual ?? (id === own.id ? own.effort : null) ?? undefined;
    const found = within(where, () => chooseModel(this.models, id, known));
    return { model: found.model.id, effort: found.effort };
  }
}

/** The agents that the tasks name, in their order; null where one names none. */
async function agentsOf(asked: Asked[], use: DelegationUse): Promise<(AgentForTask | null)[]> {
  const found: (AgentForTask | null)[] = [];
  for (const [at, { agent }] of asked.entries()) {
    if (agent === undefined) found.push(null);
    else found.push(await use.agent(agent).catch((error: unknown) => fail(`tasks[${at}].agent`, error)));
  }
  return found;
}

async function fileOf(session: SandboxSession, path: string, where: string): Promise<PublishedFile> {
  try {
    const { content, size } = await session.readFile(path);
    return { id: newId(), name: path, size, content };
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'SandboxError') throw error;
    throw new Error(`${where}: ${error.message}`, { cause: error });
  }
}

/** The agent is told what it has lost without having made a task. */
function withStopped(error: unknown, stopped: readonly string[]): unknown {
  if (stopped.length === 0 || !(error instanceof Error) || error.name === 'SandboxError') return error;
  const were = stopped.length === 1 ? 'was' : 'were';
  return new Error(`${error.message} ${stopped.join(', ')} ${were} stopped for this call.`, { cause: error });
}

function within<T>(where: string, find: () => T): T {
  try {
    return find();
  } catch (error) {
    return fail(where, error);
  }
}

function fail(where: string, error: unknown): never {
  throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
