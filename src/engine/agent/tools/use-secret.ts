import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type SecretToUse, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { toolText } from './tool-text.js';

export const USE_SECRET = 'use_secret';

const parameters = z.strictObject({
  name: z.string().min(1).max(200).describe('As <surroundings> lists it.'),
  reason: z.string().min(1).max(1_000).describe('What you need it for: the person who decides reads it.'),
});

/** Asks for the use of a secret, in a task with `approvals: "secrets"` (reference §24, docs/decisions/0099). */
@Plugin(AgentTool, USE_SECRET)
export class UseSecretTool extends AgentTool<typeof parameters> {
  readonly name = USE_SECRET;
  readonly description = toolText(USE_SECRET);
  readonly parameters = parameters;
  // It says what is so; the yes of a person is on record before it runs.
  readonly repeatable = true;
  override readonly changes = false;

  execute({ name }: z.output<typeof parameters>, { secrets = null }: ToolContext): Promise<ToolOutcome> {
    return Promise.resolve(secrets === null ? NOTHING_TO_ASK : outcomeOf(name, secrets));
  }

  override approvalQuestion({ name, reason }: z.output<typeof parameters>, secrets: readonly SecretToUse[]): string {
    const hosts = secrets.find((secret) => secret.name === name)?.hosts ?? [];
    return `May the agent use the secret ${name} in this task (${USE_SECRET})?\n\nIts value goes to ${hosts.join(', ')}.\n\nThe reason of the agent: ${reason}`;
  }
}

const NOTHING_TO_ASK = success('No secret of this task waits for an approval: use the variables.');

function outcomeOf(name: string, secrets: readonly SecretToUse[]): ToolOutcome {
  const secret = secrets.find((one) => one.name === name);
  if (secret === undefined) {
    const names = secrets.map((one) => one.name).join(', ') || 'none';
    return { status: 'error', error: `There is no secret ${name} in this task. Its secrets: ${names}.` };
  }
  if (!secret.approved) return { status: 'error', error: `A person has to approve the use of ${name} first.` };
  return success(
    `The secret ${name} may be used in this task now: $${secret.env} has its placeholder, and requests to ${secret.hosts.join(', ')} get its value.`,
  );
}
