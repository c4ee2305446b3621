// What doctor says of notices to people: the mail server, and the secrets that members have given.
import { mailCheck } from '../../src/operator/doctor/mail.check.js';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { findings, line } from '../harness/doctor.js';
import { MailServer } from '../harness/mail-server.js';
import { readNotices, setNotices, subscribe } from '../harness/notices.js';
import { freePort } from '../harness/ports.js';
import { PushService } from '../harness/push-service.js';
import { HERE } from '../harness/webhooks.js';

const SMTP_FROM = 'mill@example.test';
const PASSWORD = 'canary-mail-password';

describe('doctor on the mail server (reference §16)', () => {
  let mail: MailServer;
  const look = async (SMTP_URL?: string) =>
    line(await findings([mailCheck], { env: SMTP_URL === undefined ? {} : { SMTP_URL, SMTP_FROM } }), 'mail');

  beforeAll(async () => {
    mail = await MailServer.listen(`mill:${PASSWORD}`);
  });
  afterAll(() => mail.close());

  it('says that no e-mail is sent without SMTP_URL', async () => {
    expect(await look()).toMatchObject({ status: 'ok', detail: expect.stringContaining('SMTP_URL') });
  });

  it('connects and logs in, and sends no message', async () => {
    expect(await look(mail.url(`mill:${PASSWORD}`))).toMatchObject({ status: 'ok', advice: null });
    expect(mail.mails).toEqual([]);
  });

  it('says that the password is refused, without the password', async () => {
    const found = await look(mail.url('mill:canary-of-another-one'));
    expect(found).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('refuses the user or the password'),
    });
    expect(found.advice).toContain('SMTP_URL');
  });

  it('says that nobody listens there', async () => {
    const found = await look(`smtp://127.0.0.1:${await freePort()}`);
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('doctor on the secrets of notices (reference §16)', () => {
  const service = useService(() => bootApp({ env: HERE }));

  it('counts the address of a hook and the subscription of a browser among those that another SECRET_KEY cannot read', async () => {
    const push = await PushService.listen();
    const { client } = await makeMember(service);
    await setNotices(client, { finished: ['hook'], hookUrl: 'http://127.0.0.1:9/hook' });
    await subscribe(client, push.browser((await readNotices(client)).push.publicKey));
    await push.close();
    const found = line(await findings([secretCheck], { env: { DATABASE_URL: service.db.url } }), 'secret');
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringContaining('0 of 3 secrets') });
    expect(found.advice).toContain('PUT /v1/notices');
  });
});
