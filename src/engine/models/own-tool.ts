// How the tools of the service are called in the record of a task that an agent program drives (reference §30).

/** The name of the MCP server as which such a program has them. */
export const OWN_SERVER = 'millwright';

/** How programs call a tool of an MCP server: `mcp__millwright__ask`, `millwright_ask`, `mcp__millwright.ask`. */
const CALLED = new RegExp(`^(?:mcp_{1,2})?${OWN_SERVER}(?:_{1,2}|[./:-])([\\w-]+)$`);

/** The name of the service's tool that a call of a program is of; null: it is one of the program's own. */
export function ownTool(name: string): string | null {
  return CALLED.exec(name)?.[1] ?? null;
}
