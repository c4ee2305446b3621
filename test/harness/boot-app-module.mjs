// Boots AppModule from dist/ as a suite of somebody else would, so many times one after the other; prints what it saw.
import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { Test } from '@nestjs/testing';

const { AppModule } = await import('../../dist/app.module.js');
const { DataDir } = await import('../../dist/platform/config/data-dir.js');

const statuses = [];
const folders = [];
for (let times = Number(process.argv[2]); times > 0; times--) {
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(false)
    .compile();
  const app = module.createNestApplication({ bodyParser: false, logger: false });
  await app.listen(0, '127.0.0.1');
  folders.push(app.get(DataDir).path);
  statuses.push((await fetch(`${await app.getUrl()}/health/ready`)).status);
  await app.close();
}
console.log(JSON.stringify({ statuses, folders, left: folders.filter((folder) => existsSync(folder)) }));
