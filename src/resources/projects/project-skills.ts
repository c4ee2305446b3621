// Skills among the files of a project: the names of such files are paths, and begin with a folder (reference §27).
import { SKILL_NAME } from '../../engine/skills/skill-file.js';
import { cleanName } from '../files/file-name.js';

/** How such a name begins. No other file of a project has a slash in its name. */
export const PROJECT_SKILLS = 'skills/';
/** Bytes of the whole name. */
const MAX_PATH = 1_024;

/** The name of a file that was sent as `skills/NAME/…`: all of its path. Null for any other. */
export function skillPath(given: string | null): string | null {
  if (given === null || !given.startsWith(PROJECT_SKILLS) || Buffer.byteLength(given) > MAX_PATH) return null;
  const [name = '', ...rest] = given.slice(PROJECT_SKILLS.length).split('/');
  const isPath = rest.length > 0 && rest.every((one) => cleanName(one) === one && !/[\\]/.test(one));
  return SKILL_NAME.test(name) && isPath ? given : null;
}
