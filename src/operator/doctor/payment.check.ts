// What the payment provider refuses: entries of the ledger whose cost it does not take (reference §14).
import { REFUSED } from '../../resources/billing/stripe/meter.sql.js';
import { type Check, ok, warn } from './check.js';

const NAME = 'payment';

export const paymentCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run({ database, env }) {
    const { billing } = env.file;
    if (billing?.meter === undefined) return [];
    const [refused] = await (await database).sql.run(REFUSED());
    if (refused === undefined || refused.count === 0)
      return [ok(NAME, `The meter ${billing.meter} has refused nothing.`)];
    const detail = `The meter ${billing.meter} has refused the cost of ${refused.count} entries of the ledger, at last: ${refused.refusal}`;
    const advice =
      "Correct it at Stripe or in CONFIG_FILE, and have them reported again: docs/operating.md, 'Payments'.";
    return [warn(NAME, detail, advice)];
  },
};
