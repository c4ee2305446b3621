// How many files and connections the system lets a process open that is started as this command was.
import { connectionLimit, descriptorLimit } from '../../platform/config/descriptors.js';
import { type Check, fail, ok, warn } from './check.js';
import { reasonOf } from './words.js';

const NAME = 'descriptors';
/** What each process of a command may have open, and so the least of a process that runs tasks. */
const OF_COMMANDS = 4096;

export const descriptorsCheck: Check = {
  name: NAME,
  run({ env }) {
    const limit = descriptorLimit();
    const advice = 'Raise nofile where the service is started (LimitNOFILE=, --ulimit nofile=).';
    if (env.runsWork && limit < OF_COMMANDS) {
      return Promise.resolve([fail(NAME, `${limit}; a process that runs tasks needs ${OF_COMMANDS}.`, advice)]);
    }
    try {
      const { most, warning } = connectionLimit(env);
      const detail = `A process that is started as this command was may open ${limit}, so it takes ${most} connections at once.`;
      return Promise.resolve([warning === null ? ok(NAME, detail) : warn(NAME, detail, warning)]);
    } catch (error) {
      return Promise.resolve([fail(NAME, reasonOf(error), advice)]);
    }
  },
};
