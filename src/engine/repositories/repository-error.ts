import { EgressError } from '../../platform/egress/egress.js';
import { ApiError } from '../../platform/http/api-error.js';

/** A repository cannot be cloned or handed in. The message is for the client; `cause` has what the operator must know. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}

export const TOO_LARGE = 'The repository is larger than a task may be.';
const NO_ACCESS =
  'The repository does not exist, or needs a credential that this service does not have for this workspace and path.';

/** What the client may read: nothing that names an address or tells what lies behind it. */
export function asRepositoryError(error: unknown): RepositoryError {
  if (error instanceof RepositoryError) return error;
  if (error instanceof ApiError || error instanceof EgressError)
    return new RepositoryError(error.message, { cause: error });
  const said = error instanceof Error ? error.message : '';
  if (
    /could not read Username|Authentication failed|not found|does not (exist|appear to be)|returned error: 40[134]/i.test(
      said,
    )
  ) {
    return new RepositoryError(NO_ACCESS, { cause: error });
  }
  if (/returned error: 30[1278]/.test(said)) {
    return new RepositoryError('The repository has moved: redirects are not followed, name its new address.', {
      cause: error,
    });
  }
  if (/File too large/.test(said)) {
    return new RepositoryError(TOO_LARGE, { cause: error });
  }
  return new RepositoryError('The repository could not be read; the log of the service says why.', { cause: error });
}
