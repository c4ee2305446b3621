// Starts the built service with an extension whose jobs last until a file is there. `path-1` ends the first attempt at a job with
// the data `{path}`. What becomes of a job is printed.
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Module } from '@nestjs/common';

const { EXTENSIONS } = await import('../../dist/extensions.js');
const { JobHandler, JobWork } = await import('../../dist/index.js');

class FileWork extends JobWork {
  async handle({ data, attempt }, signal) {
    console.log(`begun: attempt ${attempt}`);
    while (!existsSync(`${data.path}-${attempt}`) && !signal.aborted) await wait(20);
    console.log(`ended: attempt ${attempt}, ${signal.aborted ? signal.reason.name : 'by itself'}`);
    // What it records after the loss of its lease must change nothing.
    if (signal.aborted && signal.reason.name !== 'LeaseLostError') throw signal.reason;
  }
}
JobHandler('files', { leaseSeconds: 3, attempts: 4 })(FileWork);

class FilesModule {}
Module({ providers: [FileWork] })(FilesModule);

EXTENSIONS.push({ name: 'files', module: FilesModule });
await import('../../dist/main.js');
