// The tests of one driver, for each user that starts it.
import { Logger } from '@nestjs/common';
import { LONG, SEED } from '../harness/numbers.js';
import { describeUser, type DriverName, USERS } from '../harness/sandboxes.js';
import { Assault, type Result } from './assault.js';
import { KINDS } from './kinds.js';
import { tableOf } from './table.js';

/** Attempts of each kind, for each of the four ways to start a sandbox. */
const TIMES = LONG ? 6 : 1;

export function attackFrom(driver: DriverName): void {
  for (const user of USERS)
    describeUser(user, () => {
      let assault: Assault;
      const rows: Result[] = [];
      beforeAll(async () => {
        Logger.overrideLogger(['error', 'fatal']);
        assault = await Assault.start({ driver, user }, SEED);
      }, 120_000);
      afterAll(async () => {
        process.stderr.write(`\n${driver}, started by ${user}, MILLWRIGHT_SEED=${SEED}\n${tableOf(rows)}\n`);
        await assault?.close();
      }, 120_000);

      it('no attempt brings back a byte of a value, or takes one to another host or place', async () => {
        rows.push(...(await assault.make(KINDS, TIMES, SEED)));
        expect(rows.flatMap(({ kind, wrongs }) => wrongs.map((what) => `${kind}: ${what}`))).toEqual([]);
      }, 600_000);

      it('nothing of a value lies in a file, or stands in a process', () => {
        const left = assault.leftovers();
        rows.push(...left);
        expect(left.flatMap(({ wrongs }) => wrongs)).toEqual([]);
      }, 120_000);
    });
}
