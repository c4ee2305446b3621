/**
 * Holds the membership of a caller until the end of the transaction, so that its removal comes before or after all of it: `holdMembership`
 * (held-membership.ts) calls it before the first statement of a request that writes. It writes nothing.
 *
 * A function, because the statement travels together with the next one (docs/decisions/0018) and must fail by itself when there is no such
 * member.
 */
export const HOLD_MEMBERSHIP = `
CREATE OR REPLACE FUNCTION hold_membership(workspace uuid, member uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM memberships WHERE workspace_id = workspace AND user_id = member FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'The caller is not a member of the workspace.' USING ERRCODE = 'MW001';
  END IF;
END $$;
`;
