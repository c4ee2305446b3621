import { distribute } from './distribute.mjs';
import { formatCents, parseCents } from './money.mjs';
import { parsePerson } from './people.mjs';

/** splitBill('9', ['alice=2', 'bob']) → [{name: 'alice', cents: 600}, {name: 'bob', cents: 300}] */
export function splitBill(amount, persons) {
  const people = persons.map(parsePerson);
  const cents = distribute(
    parseCents(amount),
    people.map((person) => person.weight),
  );
  return people.map((person, index) => ({ name: person.name, cents: cents[index] }));
}

export function formatBill(shares) {
  const width = Math.max(...shares.map((share) => share.name.length));
  return shares.map((share) => `${share.name.padEnd(width)}  ${formatCents(share.cents)}`).join('\n');
}
