import { enginesOf, enginesSchema } from '../../platform/config/engines.js';
import { filledIn } from './filled-in.js';

const engineOf = (more: object) => {
  const given = enginesSchema.parse({ codex: { path: '/srv/codex', command: ['node'], wire: 'openai-chat', ...more } });
  const [one] = enginesOf(given);
  if (one === undefined) throw new Error('there is one');
  return filledIn(one);
};

describe('{path} and {url} of an engine (reference §30)', () => {
  it('are its folder as the sandbox names it, and the address of the door, wherever they stand', () => {
    const env = { URL: '{url}/v1', BOTH: '{path}:{path}/bin', JSON: '{"provider":{"options":{"baseURL":"{url}"}}}' };
    expect(
      engineOf({ command: ['{path}/run', '--url={url}'], env, prepare: 'ln -s {path} ~/own; echo {url}' }),
    ).toEqual({
      command: ['/opt/engines/codex/run', '--url=http://127.0.0.1:61080'],
      env: {
        URL: 'http://127.0.0.1:61080/v1',
        BOTH: '/opt/engines/codex:/opt/engines/codex/bin',
        JSON: '{"provider":{"options":{"baseURL":"http://127.0.0.1:61080"}}}',
      },
      prepare: 'ln -s /opt/engines/codex ~/own; echo http://127.0.0.1:61080',
    });
  });

  it('leave everything else as it is', () => {
    const text = '{Path} ${url:-x} $& $1 {other} {}';
    expect(engineOf({ command: [text] })).toEqual({
      command: ['{Path} ${url:-x} $& $1 {other} {}'],
      env: {},
      prepare: null,
    });
  });
});
