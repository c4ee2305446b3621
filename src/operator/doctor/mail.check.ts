// The mail server of SMTP_URL: connected, greeted and logged in to, with no message.
import { openMail } from '../../work/personal-notices/mail-channel.js';
import { type Check, fail, ok } from './check.js';
import { reasonOf } from './words.js';

const NAME = 'mail';

export const mailCheck: Check = {
  name: NAME,
  // Of a connection, a greeting and the first silence (mail-channel.ts).
  limitMs: 45_000,
  async run({ env }) {
    const { SMTP_URL, SMTP_FROM } = env.variables;
    if (SMTP_URL === undefined) return [ok(NAME, 'No e-mail is sent: SMTP_URL is not set.')];
    const { host } = new URL(SMTP_URL);
    const server = await openMail(new URL(SMTP_URL));
    try {
      await server.verify();
      return [ok(NAME, `${host} takes mail; ${SMTP_FROM} sends it.`)];
    } catch (error) {
      const { code, responseCode } = error as { code?: string; responseCode?: number };
      if (code === 'EAUTH') {
        // Without the words of the server: some say what they were sent.
        return [fail(NAME, `${host} refuses the user or the password (${responseCode}).`, 'Correct the user and the password in SMTP_URL.')];
      }
      const advice = 'Correct SMTP_URL, or start that server: until then notices by e-mail are tried again, and then given up.';
      return [fail(NAME, `${host} takes no mail: ${reasonOf(error)}`, advice)];
    } finally {
      server.close();
    }
  },
}; // prettier-ignore
