import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { AgentInput, Budget } from '../../engine/agent/agent-engine.js';
import type { Delegation, MadeTask } from '../../engine/agent/delegation.js';
import { secretsIn } from '../../engine/agent/approval.js';
import type { InputChecks } from '../../engine/agent/input-checks.js';
import { readChecks } from '../../engine/agent/check-steps.js';
import { Env } from '../../platform/config/env.js';
import { webOf } from '../../platform/config/web.js';
import { RepositoryStore } from '../../engine/repositories/repository-store.js';
import { TaskRepository } from '../../engine/repositories/task-repository.js';
import { microsOf, usd } from '../../platform/money/usd.js';
import { Database } from '../../platform/database/database.js';
import { usedUpText } from '../../resources/billing/usage-text.js';
import { type UsageRules, usageRulesOf } from '../../resources/billing/usage.sql.js';
import { agentForTask } from '../../resources/agents/agent-for-task.js';
import { type MadeChild, OF_CALL } from '../../resources/tasks/children/children.sql.js';
import { exhaustedText, StorageQuota } from '../../resources/files/storage-quota.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import type { ConversationMessage, ToolInvocation, ToolResult } from '../../engine/models/conversation.js';
import { readCommands } from '../../engine/agent/commands/told-commands.js';
import { RunStops } from './run-stops.js';
import { readLoss } from './lost-work.js';
import { type ClaimedRun, FencedError, HandedBackError, type RunSignals } from './claimed-run.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { boundAmong, type TaskEnvironment } from '../../engine/sandbox/session-environment.js';
import { sessionOf } from '../../resources/environments/definition.js';
import { RunChecking } from './run-checking.js';
import { RunMcp } from './run-mcp.js';
import { sharedWith } from './shared-files.js';
import { RunSecrets } from './run-secrets.js';
import type { TaskSecrets } from './task-secrets.js';
import {
  CHECKS_NOW,
  type EnvironmentOfTask,
  type InvocationInput,
  LOAD,
  type LoadedRow,
  type MessageInput,
  type TaskInput,
} from './run-loader.sql.js';

/** Tasks that stand so many below another make none. */
const MOST_DEPTH = 2;

/** What a run begins with. */
export interface Loaded {
  input: AgentInput;
  /** The manifest of the last snapshot of its task; null: it has none. */
  snapshot: string | null;
  /** Whether there is one whose folder does not count to what the workspace stores yet: that of a fork, until a run has measured it. */
  uncounted: boolean;
  /** That its task works in, whether it has folders or not; null: none. */
  environment: EnvironmentOfTask | null;
  /** Null: the task has none. The driver closes them. */
  secrets: TaskSecrets | null;
}

/** Assembles what an engine needs to drive a claimed run: one read. */
@Injectable()
export class RunLoader {
  private readonly rules: UsageRules;
  /** Whether the operator lets agents read pages of the web. */
  private readonly web: boolean;

  constructor(
    private readonly database: Database,
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
    private readonly repositories: RepositoryStore,
    private readonly env: Env,
    private readonly sandboxes: SandboxSelector,
    private readonly secrets: RunSecrets,
    private readonly checking: RunChecking,
    private readonly stops: RunStops,
    private readonly mcp: RunMcp,
  ) {
    this.rules = usageRulesOf(env.file);
    this.web = webOf(env.file) !== null;
  }

  async load(run: ClaimedRun, signals: RunSignals): Promise<Loaded> {
    const { signal } = signals;
    const query = LOAD({ taskId: run.taskId, limits: this.quota.limits, rules: this.rules, web: this.web });
    const rows = await retryWhileUnavailable(() => this.database.work.run(query), signal);
    const { task, messages } = loaded(rows);
    // Deleted since it was claimed.
    if (task === null) throw new FencedError(run);
    // Before this process had noted its claim: the notice found nothing here.
    if (task.paused) throw new HandedBackError('The task is paused.');
    const input = this.input(run, task, messages, signals);
    const { snapshot } = task;
    const uncounted = snapshot !== null && task.workdirBytes === 0;
    const of = { snapshot, uncounted, environment: task.environment };
    return { ...of, ...(await this.withSecrets(run, task, input, signal)) };
  }

  /** What cannot leave the sandbox needs no value. */
  private async withSecrets(
    run: ClaimedRun,
    task: TaskInput,
    input: AgentInput,
    signal: AbortSignal,
  ): Promise<Pick<Loaded, 'input' | 'secrets'>> {
    const { network, secretNames, createdById: userId, projectId } = task;
    const mayLeave = network || secretNames !== null;
    const { hosts } = this.sandboxes.factsOf({ ...input, network: mayLeave });
    if (hosts.length === 0) return { input, secrets: null };
    const approved = task.approvals === 'secrets' ? secretsIn(task.approvedTools) : 'all';
    const secrets = this.secrets.of(run, { userId, projectId, names: namesFor(task), approved });
    if (network) return { input: { ...input, secrets: secrets.open }, secrets };
    // An event began it: it reaches the hosts of its secrets and no others, so they are read before anybody is told of hosts.
    const read = await retryWhileUnavailable(secrets.open, signal).catch(async (error: unknown) => {
      await this.secrets.close(secrets);
      throw error;
    });
    const boundHosts = boundAmong(hosts, read?.all ?? []);
    return { input: boundHosts.length === 0 ? input : { ...input, boundHosts, secrets: secrets.open }, secrets };
  }

  private input(run: ClaimedRun, task: TaskInput, messages: MessageInput[], signals: RunSignals): AgentInput {
    const { signal, stopping } = signals;
    const untouched = task.blocked?.runId === run.runId && task.blocked.epoch === run.epoch - 1;
    const input: AgentInput = {
      taskId: run.taskId,
      workspaceId: run.workspaceId,
      userId: task.createdById,
      runId: run.runId,
      model: { id: run.model, effort: task.effort },
      messages: messages.map((message) => conversationMessage(message, untouched)),
      untitled: task.untitled && this.env.file.titles !== false,
      cuts: task.cuts ?? [],
      engineSession: task.engineSession,
      contextTokens: task.contextTokens,
      outputSchema: task.outputSchema,
      approvals: task.approvals,
      approvedTools: task.approvedTools,
      whenBlocked: task.whenBlocked,
      untouched,
      budget: budgetOf(task),
      ...(task.depth < MOST_DEPTH ? { delegation: this.delegation(run, task, signal) } : {}),
      spent: {
        steps: task.turnSteps,
        tokens: task.turnTokens,
        durationMs: task.turnDurationMs,
        costMicros: task.turnCostMicros,
      },
      files: (task.files ?? []).map(({ path, sha256 }) => ({ path, open: () => this.bytes(run, sha256) })),
      keptFile: (sha256) => this.bytes(run, sha256),
      ...sharedWith(task, (sha256) => this.bytes(run, sha256)),
      commands: { last: task.lastCommand ?? 0, earlier: task.commands ?? [], onStop: this.stops.of(run.taskId) },
      network: task.network,
      ...this.mcp.of(run, task, signal),
      ...(task.fetched === null ? {} : { web: { fetched: task.fetched } }),
      ...(task.agent === null ? {} : { instructions: task.agent.instructions }),
      denied: [...(task.agent?.deny ?? []), ...(task.deniedAbove ?? [])],
      ...(task.environment === null ? {} : { environment: environmentOf(task.environment) }),
      repository: this.repository(run, task, signal),
      storageExhausted: task.above === null ? null : exhaustedText(task.above),
      usageExhausted: task.exhausted === null ? null : usedUpText(task.exhausted),
      signal,
      stopping,
    };
    run.hasChecks = task.checks !== null;
    const current = { ...input, checksNow: () => this.checksNow(run, task, input) };
    return task.checks === null ? current : this.checking.of(run, task, task.checks, current);
  }

  /** Asks for those of a task that had some when it was last heard of, and for no others. */
  private async checksNow(run: ClaimedRun, task: TaskInput, input: AgentInput): Promise<InputChecks | null> {
    if (run.hasChecks !== true) return null;
    const query = CHECKS_NOW({ taskId: run.taskId });
    const [now] = await retryWhileUnavailable(() => this.database.work.run(query), input.signal);
    // Deleted meanwhile: the next write tells.
    if (now?.checks == null) return null;
    return this.checking.of(run, { ...task, ...now }, now.checks, input).checks ?? null;
  }

  private repository(run: ClaimedRun, { repository, workspace, title }: TaskInput, signal: AbortSignal) {
    if (repository === null || workspace === null) return null;
    const { MAX_UPLOAD_BYTES } = this.env.variables;
    const about = { taskId: run.taskId, workspace, title, ...repository, push: repository.push ?? null };
    const { patch = null } = repository;
    const beginsWith = patch === null ? null : () => this.bytes(run, patch);
    return new TaskRepository(this.repositories, about, MAX_UPLOAD_BYTES, signal, beginsWith);
  }

  private delegation(run: ClaimedRun, task: TaskInput, signal: AbortSignal): Delegation {
    const { made, turnReservedSteps: steps, turnReservedTokens: tokens, turnReservedCostMicros: costMicros } = task;
    const bytes = (sha256: string) => () => this.bytes(run, sha256);
    const of: Delegation['of'] = async (call) => {
      const rows = await retryWhileUnavailable(() => this.database.work.run(OF_CALL(call)), signal);
      return rows.map((row) => madeTask(row, bytes));
    };
    const { work } = this.database;
    const agent: Delegation['agent'] = (name) =>
      retryWhileUnavailable(() => agentForTask(work, run.workspaceId, name), signal);
    return { made, reserved: { steps, tokens, costMicros }, of, agent };
  }

  private async bytes({ workspaceId }: ClaimedRun, sha256: string): Promise<Readable> {
    return (await this.storage.open(workspaceId, sha256)).stream;
  }
}

/**
 * The messages in the order in which the model reads, not in which they were sent: one that waited stands after what went on
 * meanwhile. Without a task it is deleted.
 */
function loaded(rows: LoadedRow[]): { task: TaskInput | null; messages: MessageInput[] } {
  const messages = rows.flatMap(({ message }) => message ?? []);
  messages.sort((a, b) => (a.readSeq ?? 0) - (b.readSeq ?? 0));
  return { task: rows.find((row) => row.task !== null)?.task ?? null, messages };
}

function environmentOf({ slug, version, definition }: EnvironmentOfTask): TaskEnvironment {
  return { slug, version, secrets: definition.secrets, ...sessionOf(definition) };
}

/** The secrets that both its environment and its automation let it have, as far as they name any. */
function namesFor({ environment, secretNames }: TaskInput): readonly string[] | 'all' {
  const named = environment?.definition.secrets;
  if (secretNames === null) return named ?? 'all';
  return named === undefined ? secretNames : secretNames.filter((name) => named.includes(name));
}

/** While its parent counts on it a task has no more than its share, whatever its own budget was changed to. */
function budgetOf({ budget, share }: TaskInput): Budget {
  const own = budget ?? {};
  if (share === null) return own;
  const least = (one: number | null | undefined, other: number | null) => Math.min(one ?? Infinity, other ?? Infinity);
  const costMicros = least(own.maxCost == null ? null : microsOf(own.maxCost), share.costMicros);
  const [maxSteps, maxTokens] = [least(own.maxSteps, share.steps), least(own.maxTokens, share.tokens)];
  return {
    ...own,
    ...(maxSteps === Infinity ? {} : { maxSteps }),
    ...(maxTokens === Infinity ? {} : { maxTokens }),
    ...(costMicros === Infinity ? {} : { maxCost: usd(costMicros) }),
  };
}

function madeTask({ baseSha256, ...row }: MadeChild, bytes: (sha256: string) => () => Promise<Readable>): MadeTask {
  const { id, number, title, status, resultText: text, resultOutput: output, changes } = row;
  return {
    ...{ id, number, title, status, text, output, changes, isOver: row.settled || row.released },
    statusReason: row.statusReason && { ...row.statusReason },
    base: baseSha256 === null ? null : bytes(baseSha256),
    files: (row.files ?? []).map(({ name, sha256 }) => ({ name, open: bytes(sha256) })),
  };
}

function conversationMessage({ id, role, parts, invocations }: MessageInput, untouched: boolean): ConversationMessage {
  const told = readLoss(id, parts) ?? readChecks(id, parts) ?? readCommands(id, parts);
  if (told !== null) return told;
  const calls = (invocations ?? []).map(toolInvocation);
  // On record as begun, and then blocked: it may begin once more.
  for (const call of calls) if (untouched && call.stage === 'begun') call.stage = 'approved';
  return { id, role, parts, invocations: calls };
}

type ResultInput = Pick<InvocationInput, 'state' | 'output' | 'error' | 'forModel'>;

function toolInvocation({ toolCallId, name, input, stage, ...row }: InvocationInput): ToolInvocation {
  return { toolCallId, name, input, result: toolResult(row), stage };
}

function toolResult({ state, output, error, forModel }: ResultInput): ToolResult | null {
  const read = forModel === null ? {} : { forModel };
  switch (state) {
    case 'running':
      return null;
    case 'success':
      return { status: 'success', output, ...read };
    case 'error':
      return { status: 'error', error: error ?? '', ...read };
    case 'denied':
      return { status: 'denied', reason: error };
  }
}
