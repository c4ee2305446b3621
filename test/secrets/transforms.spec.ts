import { Finder, masked } from '../../src/engine/sandbox/network/mask.mjs';
import { TRANSFORMS } from './forms.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

describe('A bound host that says a value in an order or a code of its own', () => {
  const finder = new Finder([{ name: 'TOKEN', value: VALUE }], { pieces: true });

  // The wall is the host and the place that a binding names (docs/secrets.md). What becomes masked one day belongs to the forms.
  it.each(TRANSFORMS.map((form) => [form.name, form] as const))('gives it away: %s', (_name, { said }) => {
    expect(masked(finder, said(VALUE)).toString()).toBe(said(VALUE).toString());
  });
});
