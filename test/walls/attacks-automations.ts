// What tenant A lets the clock and its providers do.
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from './attack.js';
import { MIB } from './bounds.js';

const KIB = 1024;
/** How often an hour of the hundred schedules is caught up. */
const HOURS = 3;
const PAUSE_MS = 2_000;

export const AUTOMATION_ATTACKS: Attack[] = [
  {
    name: 'automations',
    what: '100 schedules that catch up an hour three times, and 700 deliveries at once, small, large, unsigned, asked by slow filters',
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
          flood(400, 2 * KIB),
          flood(200, 2 * KIB, false),
          flood(50, 200 * KIB),
          flood(50, 260 * KIB),
          flood(6, 25 * MIB - KIB),
        ]);
      } finally {
        a.created.push(...(await planned.remove()));
      }
      await a.over();
    },
  },
];
