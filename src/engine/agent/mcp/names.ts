// What tools of servers are called, and those that stand for them (reference §28). No tool of an extension is called so.

/** Before the names of the server and of its tool. */
export const PREFIX = 'mcp__';
export const MCP_SEARCH = 'mcp_search';
export const MCP_CALL = 'mcp_call';
