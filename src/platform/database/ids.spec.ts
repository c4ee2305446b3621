import { jest } from '@jest/globals';
import { validate, version } from 'uuid';
import { newId } from './ids.js';

describe('newId', () => {
  it('makes UUIDv7s, each after those before it, also within a millisecond and when the clock is set back', () => {
    const made = Array.from({ length: 2_000 }, newId);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(1);
    made.push(...Array.from({ length: 2_000 }, newId));
    clock.mockRestore();
    expect(made.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(made).toEqual([...made].sort());
    expect(new Set(made).size).toBe(4_000);
  });
});
