import type { TaskSecret } from '../sandbox.js';
import { SessionSecrets } from './session-secrets.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const SECRET = {
  name: 'TOKEN',
  value: VALUE,
  placeholder: 'held',
  env: 'TOKEN',
  bindings: [],
} as unknown as TaskSecret;
const given = { all: [SECRET], onUse: () => undefined, listen: () => () => undefined };

describe('The output of a command that goes on', () => {
  it('has no value of a secret, also when it comes in two pieces, and of each stream for itself', async () => {
    const said = ['', ''];
    const secrets = new SessionSecrets(given, () => undefined);
    const masking = secrets.masking((stream, chunk) => void (said[stream] += chunk.toString()));
    const [first, second] = [VALUE.slice(0, 11), VALUE.slice(11)].map((piece) => Buffer.from(piece));
    await masking?.add(0, Buffer.concat([Buffer.from('before '), first ?? Buffer.alloc(0)]));
    await masking?.add(1, Buffer.from('beside\n'));
    await masking?.add(0, Buffer.concat([second ?? Buffer.alloc(0), Buffer.from(' after\n')]));
    await masking?.end();
    expect(said).toEqual(['before [secret TOKEN] after\n', 'beside\n']);
  });
});
