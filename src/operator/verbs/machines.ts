// The verbs `machine …` (reference §16, §23).
import type { Command } from 'commander';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { isUuid } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import { DRAIN, LIST } from '../../work/machines/machines.sql.js';
import { type MachineView, machineView } from '../../work/machines/machine.view.js';
import { type Verb, verb } from './verb.js';

/** Adds the verbs to their group. */
export function machines(machine: Command): void {
  verb(machine, 'list', list).description('shows the machines that have worked in the last day').example('');
  verb(machine, 'drain <id>', drain, { words: ({ note }) => note })
    .description('lets a machine take no new run, hand over what runs at its next step, and end')
    .example('0f8a6c1e-5d0b-4a57-9a4e-6f1f8f0f8a11');
}

const list: Verb<{ machines: MachineView[] }> = async (services) => {
  const rows = await services.get(Transactions).run(LIST({ all: true }));
  return { machines: rows.map(machineView) };
};

const drain: Verb<{ drained: string; processes: number; note: string }> = async (services, _options, id) => {
  const workers = await services.get(Transactions).open(async (tx) => {
    const found = isUuid(id) ? await tx.run(DRAIN({ machineId: id })) : [];
    if (found.length === 0) {
      throw new OperatorError(
        `No machine has the id '${id}'. 'machine list' shows those that have worked in the last day.`,
      );
    }
    await recordOperator(tx, null, 'machine.drain', { type: 'machine', id });
    return found;
  });
  const seen = workers.map(({ seenAt }) => seenAt).sort((a, b) => Number(b) - Number(a))[0];
  const hears = workers.some(({ works }) => works)
    ? 'hears of it within 5 seconds'
    : `has said nothing since ${seen?.toISOString()}, and hears of it when it does again`;
  const note = `Machine ${id} ${hears}: each of its processes takes no new run, hands over what runs at its next step, and ends with exit code 0. What starts it again ends the drain: stop it there first.`;
  return { drained: id, processes: workers.length, note };
};
