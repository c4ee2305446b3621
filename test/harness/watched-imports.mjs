// Loaded into a process by --import: it says `IMPORTED name` of each of these packages that something imports.
import { register } from 'node:module';

const NAMES = ['stripe'];
const hooks = `
import { writeSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  if (${JSON.stringify(NAMES)}.includes(specifier)) writeSync(2, 'IMPORTED ' + specifier + '\\n');
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
