import type { AuthContext, Member } from '../../api/client.ts';

/** In the order in which they are offered: what most people are first. */
export const ROLES = ['member', 'admin', 'owner', 'viewer'] as const;
export type Role = Member['role'];

/** The roles that it gives, and those whom it may change: an admin has nothing to do with owners. */
export const rolesOf = ({ workspace }: AuthContext): Role[] =>
  ROLES.filter((role) => role !== 'owner' || workspace.role === 'owner');
