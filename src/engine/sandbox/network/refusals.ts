// What the way out of a sandbox refuses, as the service and its clients name it.

/** Why the way out refuses: a host that is not listed, one that no secret is bound to where a task reaches no others, an address that is not public, or a request that may not have a value (reference §24). */
export const REFUSALS = [
  'host_not_allowed',
  'host_not_bound',
  'address_not_public',
  'secret_misplaced',
  'secret_not_bound',
  'secret_gone',
  'secret_not_approved',
] as const;
export type RefusalCode = (typeof REFUSALS)[number];

export interface NetworkRefusal {
  host: string;
  port: number;
  code: RefusalCode;
  /** The sentence that the sandbox was answered. */
  reason: string;
}
