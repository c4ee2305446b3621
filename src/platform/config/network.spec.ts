import { hostsWithin, isAmong, isHost, secretHostsOf, withoutAny } from './network.js';

describe('A list of hosts (reference §16)', () => {
  const listed = ['a.example', '*.b.example', 'c.example:8443', '[fd00::1]', '10.0.0.1:80'];

  it.each([
    ['a.example', 443],
    ['a.example', 80],
    ['x.b.example', 443],
    ['x.y.b.example', 443],
    ['*.b.example', 443],
    ['*.x.b.example', 443],
    ['c.example', 8443],
    ['[fd00::1]', 443],
    ['10.0.0.1', 80],
  ])('has %s:%s', (host, port) => expect(isAmong(listed, host, port)).toBe(true));

  it.each([
    ['a.example', 8443],
    ['x.a.example', 443],
    ['*.a.example', 443],
    ['b.example', 443],
    ['xb.example', 443],
    ['*.example', 443],
    ['c.example', 443],
    ['10.0.0.1', 443],
    ['', 443],
  ])('has not %s:%s', (host, port) => expect(isAmong(listed, host, port)).toBe(false));

  it('with a star has every host and port, for environments to choose from', () => {
    const all = ['a.example', '*'];
    expect(isAmong(all, 'x.test', 8443)).toBe(true);
    expect(hostsWithin(all, ['x.test:8443', '*.b.test', '[fd00::1]', '*'])).toEqual(['x.test:8443', '*.b.test', '[fd00::1]', '*']); // prettier-ignore
    expect(hostsWithin(['a.example'], ['*'])).toEqual([]);
    expect(withoutAny(all)).toEqual(['a.example']);
    expect(isHost('*')).toBe(false);
  });

  it('is for secrets that of commands, unless there is another one', () => {
    const allowHosts = ['a.example', 'b.example'];
    expect(secretHostsOf(undefined)).toEqual([]);
    expect(secretHostsOf({ allowHosts })).toEqual(allowHosts);
    expect(secretHostsOf({ allowHosts, secretHosts: ['a.example'] })).toEqual(['a.example']);
    expect(secretHostsOf({ allowHosts, secretHosts: [] })).toEqual([]);
  });
});
