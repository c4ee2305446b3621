// What tenant A lets the clock and its providers do.
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';

const KIB = 1024;
/** How often an hour of the hundred schedules is caught up. */
const HOURS = 2;
const PAUSE_MS = 2_000;

export const AUTOMATION_ATTACKS: Attack[] = [
  {
    name: 'automations',
    what: '100 schedules that catch up an hour twice, and 350 deliveries at once, small, large, unsigned, asked by slow filters',
    wave: async (a) => {
      const { planned } = a;
      await planned.make();
      const overdue = async () => {
        for (let n = 0; n < HOURS; n++) {
          await planned.overdue();
          await wait(PAUSE_MS);
        }
      };
      const flood = async (count: number, bytes: number, signed = true) => {
        const deliveries = Array.from({ length: count }, (_, n) => a.deliver(planned.delivery(n, bytes, signed)));
        await Promise.all(deliveries);
      };
      try {
        await Promise.all([
          overdue(),
          flood(200, 2 * KIB),
          flood(100, 2 * KIB, false),
          flood(25, 200 * KIB),
          flood(25, 260 * KIB),
          flood(4, 25 * MIB - KIB),
        ]);
      } finally {
        a.created.push(...(await planned.remove()));
      }
      await a.over();
    },
  },
];
