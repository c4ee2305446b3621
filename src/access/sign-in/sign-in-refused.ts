/** Why somebody is not signed in, for the page and the log (reference §31). */
export const REFUSALS = {
  cancelled: 'the provider says that the person was not signed in there',
  expired: 'the sign-in was begun by another browser, long ago, or not at all',
  invalid: 'the answer of the provider is not valid',
  unverified: 'the provider has not verified an address of the person',
  address_taken: 'the account with this address belongs to another person of the provider, or to another sign-in',
  no_workspace: 'no rule and no member lets the person into the workspace',
  unavailable: 'the provider does not answer',
  too_many: 'too many sign-ins were refused from this address',
  unsafe: 'the service is not reached by https, or PUBLIC_URL is not set',
} as const;
export type Refusal = keyof typeof REFUSALS;

export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';

  /** @param cause what the log says besides; never shown to the browser. */
  constructor(
    readonly reason: Refusal,
    cause?: unknown,
  ) {
    super(REFUSALS[reason], { cause });
  }
}
