// The operator command (reference §16). It runs beside the service or alone.
import 'reflect-metadata';
import { EXTENSIONS } from './extensions.js';
import { operate } from './operator/verbs/operate.js';

// `millwright key list | head -1`: the reader has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
const code = await operate(process.argv.slice(2), EXTENSIONS);
if (code !== 0) process.exitCode = code;
// Services that could not all be made may leave timers or sockets, and so does a check of `doctor` that was given up.
setTimeout(() => process.exit(), 2000).unref();
