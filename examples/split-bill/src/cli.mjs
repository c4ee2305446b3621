#!/usr/bin/env node
import { formatBill, splitBill } from './bill.mjs';

const [amount, ...persons] = process.argv.slice(2);
if (amount === undefined || persons.length === 0) {
  console.error('usage: split-bill AMOUNT PERSON[=WEIGHT]...');
  process.exit(2);
}
try {
  console.log(formatBill(splitBill(amount, persons)));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
