// The client of a Millwright service (reference §19). `@millwright/sdk/node` adds file paths.
export { checkName } from './checks.js';
export { Millwright, type WorkspaceEventsOptions } from './client.js';
export * from './errors.js';
export { fold } from './fold.js';
export { List, type Page } from './list.js';
export { Mcp, type McpMessage } from './mcp.js';
export { ProofError, type ProofKeys, type Proven, verifyProof } from './proofs.js';
export type { ProofCheck, ProofStatement } from './statement.js';
export type { EventsOptions, Reply, WaitOptions } from './tasks.js';
export type { CallOptions, ClientOptions } from './transport.js';
export * from './types.js';
export { toUIMessages, type UIMessage, type UIPart } from './ui-messages.js';
export { type ReceivedHeaders, unwrap, type WebhookEvent, WebhookVerificationError } from './unwrap.js';
