// A bucket on a free port of 127.0.0.1, in a process of its own: it says its port on standard output, and ends with standard input.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

const directory = mkdtempSync(join(tmpdir(), 'millwright-s3-'));
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  allowMismatchedSignatures: true,
  configureBuckets: [{ name: 'files' }],
});
const { port } = await server.run();
console.log(JSON.stringify({ port, directory }));
process.stdin.resume();
process.stdin.on('end', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
