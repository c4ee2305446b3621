// The small agent program as a client of MCP servers: streamable HTTP, without sessions.

async function post({ url, headers }, method, params, signal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal,
  });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/** The tools of a server, called `mcp__server__tool`, or with MCP=plain `server_tool`. */
export async function connect({ name, url, headers = [] }) {
  const server = { url, headers: Object.fromEntries(headers.map((header) => [header.name, header.value])) };
  const clientInfo = { name: 'acp-program', version: '1.0.0' };
  await post(server, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const { tools } = await post(server, 'tools/list', {});
  const prefix = process.env.MCP === 'plain' ? `${name}_` : `mcp__${name}__`;
  const offered = tools.map((tool) => ({
    name: prefix + tool.name,
    description: tool.description,
    schema: tool.inputSchema,
  }));
  return { ...server, prefix, tools: offered };
}

export async function callTool(server, name, input, signal) {
  const params = { name: name.slice(server.prefix.length), arguments: input };
  const { content, isError } = await post(server, 'tools/call', params, signal);
  return { text: content.map(({ text, type }) => text ?? `[${type}]`).join('\n'), failed: isError === true };
}
