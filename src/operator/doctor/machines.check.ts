// The machines that work: their tasks and places.
import { LIST } from '../../work/machines/machines.sql.js';
import { machineView, type MachineView } from '../../work/machines/machine.view.js';
import { type Check, type Finding, ok, warn } from './check.js';
import { inTime } from './words.js';

const NAME = 'machine';

export const machinesCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run({ database }) {
    const found = (await (await database).sql.run(LIST({ all: true }))).map(machineView);
    return found.length === 0 ? [ok(NAME, 'None has worked in the last day.')] : found.map(ofMachine);
  },
};

function ofMachine({ id, hosts, status, running, places, seenAt }: MachineView): Finding {
  const named = `${id} (${hosts.join(', ')})`;
  if (status === 'gone') {
    const age = inTime((Date.now() - Date.parse(seenAt)) / 1000);
    return warn(NAME, `${named} has not said for ${age} that it works.`, 'Start it, unless it was given up: then its tasks go on elsewhere from their last snapshots, and this line is gone after a day.');
  }
  const detail = `${named}: ${running} of ${places} places taken`;
  return status === 'draining' ? warn(NAME, `${detail}; it drains.`, 'It ends when its tasks have reached their next step.') : ok(NAME, `${detail}.`);
} // prettier-ignore
