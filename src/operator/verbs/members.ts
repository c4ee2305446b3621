// The verbs `member …` (reference §3, §16).
import { type Command, Option } from 'commander';
import type { Role } from '../../access/auth/auth-context.js';
import { MembershipsService, ROLES } from '../../access/workspaces/memberships.service.js';
import type { MembershipRow } from '../../access/workspaces/memberships.sql.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { EVEN_LAST_OWNER, inWords, ofWorkspace, ownerChange, userOf, type Verb, verb, workspaceOf } from './verb.js';

interface Added {
  member: MembershipRow & { previousRole: Role | null };
}

const addMember: Verb<Added> = async (services, options) => {
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const change = ownerChange(options);
  return { member: await services.get(MembershipsService).add(workspace.id, user.id, options.role, change) };
};

const addedInWords = ({ member: { previousRole, ...member } }: Added): string => {
  const { email, role } = member;
  if (previousRole === null) return inWords({ member });
  const said =
    previousRole === role
      ? `${email} is ${role} of this workspace already.`
      : `${email} is a member already: the role is changed from ${previousRole} to ${role}.`;
  return `${said}\n\n${inWords({ member })}`;
};

const removeMember: Verb = async (services, options) => {
  const { transferTo } = options;
  const [workspace, user] = [await workspaceOf(services, options), await userOf(services, options)];
  const heir = transferTo === undefined ? null : await services.get(UsersService).get(transferTo);
  await services.get(MembershipsService).remove(workspace.id, user.id, heir?.id, ownerChange(options));
  return { removed: true, workspaceId: workspace.id, userId: user.id, transferredTo: heir?.id ?? null };
};

/** Adds the verbs to their group. */
export function members(member: Command): void {
  ofWorkspace(verb(member, 'add', addMember, { words: addedInWords }), { '--user <address>': 'the person' })
    .description('adds a person to a workspace, or changes the role of a member')
    .addOption(new Option('--role <role>', 'what the member may do').choices(ROLES).makeOptionMandatory())
    .option(...EVEN_LAST_OWNER);
  ofWorkspace(verb(member, 'remove', removeMember), { '--user <address>': 'the member' })
    .description('removes a member, and ends its keys in the workspace')
    .option(
      '--transfer-to <address>',
      'the member who gets its projects, tasks, files and automations; else they stay, seen by owners and admins',
    )
    .option(...EVEN_LAST_OWNER);
  const list: Verb = async (services, options) => {
    const { id } = await workspaceOf(services, options);
    return { members: await services.get(MembershipsService).list(id) };
  };
  ofWorkspace(verb(member, 'list', list)).description('shows the people of a workspace and their roles');
}
