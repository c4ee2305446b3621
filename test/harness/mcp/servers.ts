// Servers of a task as an engine has them, for unit tests.
import { fileURLToPath } from 'node:url';
import type { InputMcp, McpOffer, OfferedTool, Sighting } from '../../../src/engine/agent/mcp/input-mcp.js';
import type { McpAddress, McpProgram, McpServerConfig } from '../../../src/platform/config/mcp-servers.js';

const COMMON = { description: '', tools: ['*'], default: false, required: false, workspaces: undefined };

export function address(url: string, more: Partial<McpAddress> = {}): McpAddress {
  const own = { name: 'docs', kind: 'url' as const, url, headers: {}, approval: 'task' as const };
  return { ...COMMON, readOnly: ['get_*'], timeoutSeconds: 5, ...own, ...more };
}

/** `program.mjs` with these arguments, or another file. */
export function program(args: string[], more: Partial<McpProgram> = {}, file = 'program.mjs'): McpProgram {
  const own = { name: 'docs', kind: 'program' as const, network: false, memoryBytes: 512 * 1024 ** 2, env: {} };
  const path = fileURLToPath(new URL(file, import.meta.url));
  const started = { command: process.execPath, args: [path, ...args], approval: 'task' as const };
  return { ...COMMON, readOnly: ['get_*'], timeoutSeconds: 5, ...own, ...started, ...more };
}

export function offeredTool(name: string, server = 'docs'): OfferedTool {
  return { server, name, calledAs: `mcp__${server}__${name}`, description: '', inputSchema: { type: 'object' } };
}

/** With the notes of what was kept and seen. */
export function inputMcp(
  servers: Record<string, McpServerConfig | null>,
  offer: McpOffer | null = null,
): InputMcp & { kept: McpOffer[]; seen: Sighting[] } {
  const made = {
    servers: Object.entries(servers).map(([name, config]) => ({ name, config })),
    offer,
    kept: [] as McpOffer[],
    seen: [] as Sighting[],
    keep: (kept: McpOffer) => Promise.resolve(void made.kept.push(kept)),
    saw: (_name: string, sighting: Sighting) => Promise.resolve(void made.seen.push(sighting)),
  };
  return made;
}
