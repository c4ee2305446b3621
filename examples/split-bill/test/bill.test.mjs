import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBill, splitBill } from '../src/bill.mjs';

const total = (shares) => shares.reduce((sum, share) => sum + share.cents, 0);

test('equal shares are equal', () => {
  assert.deepEqual(splitBill('9', ['alice', 'bob', 'carol']), [
    { name: 'alice', cents: 300 },
    { name: 'bob', cents: 300 },
    { name: 'carol', cents: 300 },
  ]);
});

test('a weight counts that many times', () => {
  assert.deepEqual(splitBill('9', ['alice=2', 'bob']), [
    { name: 'alice', cents: 600 },
    { name: 'bob', cents: 300 },
  ]);
});

test('the shares add up to the bill, to the cent', () => {
  assert.equal(total(splitBill('100.00', ['alice', 'bob', 'carol'])), 10_000);
  assert.equal(total(splitBill('84.30', ['alice=2', 'bob', 'carol'])), 8_430);
  for (let cents = 0; cents <= 200; cents += 1) {
    const amount = `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
    assert.equal(total(splitBill(amount, ['a=3', 'b=2', 'c', 'd'])), cents, `for a bill of ${amount}`);
  }
});

test('nobody is a cent or more away from the exact share', () => {
  const weights = [5, 3, 2, 1];
  for (const cents of [1, 99, 1001, 12_345]) {
    const shares = splitBill(`${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, ['a=5', 'b=3', 'c=2', 'd']);
    shares.forEach((share, i) => assert.ok(Math.abs(share.cents - (cents * weights[i]) / 11) < 1));
  }
});

test('the names stand in one column', () => {
  assert.equal(formatBill(splitBill('3', ['al', 'barbara'])), 'al       1.50\nbarbara  1.50');
});
