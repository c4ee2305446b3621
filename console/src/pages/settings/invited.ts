import type { AuthContext } from '../../api/client.ts';

/** Whether a session was begun by an invitation, whose key ends with it (reference §3). */
export const isInvited = ({ credential: { name, expiresAt } }: AuthContext) =>
  name === 'Invitation' && expiresAt === null;
