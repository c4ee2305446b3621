/**
 * Which ten minutes `updated_at` lies in, counted from 1970: the trigger below writes `tasks.updated_slot`, which the list by `updated_at` is
 * indexed by. A trigger, because so many statements set the time (docs/decisions/0060).
 */
export const MOVE_UPDATED_SLOT = `
CREATE OR REPLACE FUNCTION move_updated_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_slot := floor(extract(epoch FROM NEW.updated_at) / 600);
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER slot_of_update BEFORE INSERT OR UPDATE OF updated_at ON tasks FOR EACH ROW
  WHEN (NEW.updated_slot <> floor(extract(epoch FROM NEW.updated_at) / 600)) EXECUTE FUNCTION move_updated_slot();
`;
