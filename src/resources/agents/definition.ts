import type { Approvals, Budget } from '../../engine/agent/agent-engine.js';
import type { OutputSchema } from '../../engine/agent/output/output-schema.js';
import type { Check } from '../../engine/checks/check.js';
import type { Effort } from '../../engine/models/model-provider.js';
import type { AutomationRepository } from '../automations/automation-repository.js';
import type { NamedEnvironment } from '../environments/definition.js';

/** What an agent is in one version: how its tasks work (reference §27.5). Null: it says nothing of that. */
export interface AgentDefinition {
  /** The owner's word, for each of its tasks. Empty: none. */
  instructions: string;
  model: string | null;
  effort: Effort | null;
  approvals: Approvals;
  budget: Budget | null;
  /** As an automation has it: the branch may have placeholders. */
  repository: AutomationRepository | null;
  /** Names of tools that its tasks do not have. */
  tools: { deny: string[] };
  /** As given: each by its name, with a version or without. */
  skills: string[] | null;
  /** Names. Absent in versions of before: null. */
  mcpServers?: string[] | null;
  web: boolean | null;
  checks: Check[] | null;
  maxRepairs: number | null;
  environment: NamedEnvironment | null;
  /** With its keys in their order: the model is sent it, and writes in that order. */
  outputSchema: OutputSchema | null;
  tags: string[];
  metadata: Record<string, string>;
}
