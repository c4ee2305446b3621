// The service that runs at HOST and PORT: what it says of itself, and what guards it.
import { type Check, fail, type Finding, ok, warn } from './check.js';

const NAME = 'service';

export const serviceCheck: Check = {
  name: NAME,
  async run(at) {
    const { origin, state, ready } = await at.service;
    if (ready === null) return [notThere(origin, state)];
    const states = Object.entries(ready.checks);
    const bad = states.filter(([, one]) => one !== 'ok');
    const detail = `It answers at ${origin}: ${states.map(([part, one]) => `${part} ${one}`).join(', ')}.`;
    const advice = 'The lines here about that part say what to do; so does the log of the service.';
    const line = ready.status !== 'ok' ? fail(NAME, detail, advice) : bad.length > 0 ? warn(NAME, detail, advice) : ok(NAME, detail);
    const meaning = 'docs/operating.md, "Walls", says what that means.';
    const guards = ready.inForce.map((one) => ok('in force', one));
    return [line, ...guards, ...ready.missing.map((one) => warn('missing', one, meaning))];
  },
}; // prettier-ignore

function notThere(origin: string, state: string): Finding {
  switch (state) {
    case 'absent':
      return warn(NAME, `Nobody listens at ${origin}.`, 'Start it, or give HOST and PORT as the service has them.');
    case 'silent':
      return fail(NAME, `What listens at ${origin} does not answer.`, 'Look at its log, and start it anew.');
    case 'foreign':
      return fail(NAME, `Another service answers at ${origin}, or an older version of this one: it does not show the mark of this installation.`, 'Stop it, or give HOST and PORT, DATA_DIR and DATABASE_URL as the service has them.');
    case 'unknown':
      return warn(NAME, `A Millwright answers at ${origin}; whether it is of this installation is not known, because neither the database nor DATA_DIR shows a mark.`, 'See the lines about the database and DATA_DIR first; give DATABASE_URL and DATA_DIR as the service has them.');
    default:
      return fail(NAME, `What answers at ${origin} is no Millwright.`, 'Stop it, or give HOST and PORT as the service has them.');
  }
} // prettier-ignore
