import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents, parseCents } from '../src/money.mjs';

test('an amount is read and written without loss', () => {
  for (const text of ['0.00', '0.07', '12.30', '999999.99']) assert.equal(formatCents(parseCents(text)), text);
  assert.equal(parseCents('12'), 1200);
});

test('what is not an amount is refused', () => {
  for (const text of ['', '-1', '1.5', '1,50', 'ten']) assert.throws(() => parseCents(text), RangeError);
});
