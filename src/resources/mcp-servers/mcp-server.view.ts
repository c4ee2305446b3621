import { z } from 'zod';
import { matches } from '../../engine/agent/mcp/mcp-servers.js';
import type { McpServerConfig } from '../../platform/config/mcp-servers.js';
import { named, timestampSchema } from '../../platform/http/schema.js';
import type { SeenMcpServer } from './mcp-server.entity.js';

export const mcpServerSchema = named(
  'McpServer',
  z.strictObject({
    name: z.string(),
    description: z.string(),
    kind: z.enum(['program', 'url']).describe('`program`: it runs in the sandbox of the task.'),
    default: z.boolean().describe('Whether a task that names no servers has it.'),
    approval: z
      .enum(['task', 'always'])
      .describe('Before a call that may change something: as `approvals` of the task say, or a person in every task.'),
    revision: z.string().nullable().describe('Of the protocol; null until a worker has reached it.'),
    tools: z
      .array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          readOnly: z.boolean().describe('Whether the operator says that it only reads.'),
        }),
      )
      .nullable()
      .describe('Null until a worker has reached it.'),
    status: z.enum(['ready', 'unavailable', 'unknown']).describe('As a worker last saw it.'),
    checkedAt: timestampSchema.nullable().describe('When that was.'),
  }),
);

/** A server as clients see it (reference §28): nothing of its address, its headers, its command. */
export function mcpServerView(
  { name, description, kind, default: usual, approval, readOnly }: McpServerConfig,
  seen: Pick<SeenMcpServer, 'revision' | 'tools' | 'status' | 'checkedAt'> | null,
): z.output<typeof mcpServerSchema> {
  const tools = seen?.tools?.map((one) => ({ ...one, readOnly: matches(readOnly, one.name) })) ?? null;
  return {
    ...{ name, description, kind, default: usual, approval, tools },
    revision: seen?.revision ?? null,
    status: seen?.status ?? 'unknown',
    checkedAt: seen === null ? null : seen.checkedAt.toISOString(),
  };
}
