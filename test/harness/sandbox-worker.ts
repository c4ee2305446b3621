// A worker process with one running command; a test stops or kills it. Arguments: driver, lease, command. Prints its data folder
// and what becomes of the command.
import 'reflect-metadata';
import { type DriverName, SandboxBench } from './sandboxes.js';

const [driver = '', lease = '', command = ''] = process.argv.slice(2);
const bench = new SandboxBench(driver as DriverName, {}, { LEASE_SECONDS: lease });
const { session } = await bench.open();
process.stdout.write(`${bench.dataDir.path}\n`);
const said = await session.run(command).then(
  ({ exitCode }) => `exit code ${exitCode}`,
  (error: Error) => `${error.name}: ${error.message}`,
);
process.stdout.write(`${said}\n`);
await bench.close();
