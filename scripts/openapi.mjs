// Writes the OpenAPI document of the built service to a file: node scripts/openapi.mjs FILE
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';

// A process of its own in a temporary folder; `api`, because no sandbox is needed to describe routes.
Object.assign(process.env, { NODE_ENV: 'test', ROLE: 'api', LOG_LEVEL: 'error' });
for (const name of ['DATA_DIR', 'DATABASE_URL', 'REDIS_URL', 'CONFIG_FILE', 'PUBLIC_URL']) delete process.env[name];

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Which file? node scripts/openapi.mjs FILE');
const { AppModule } = await import('../dist/app.module.js');
const { OpenApi } = await import('../dist/platform/http/openapi/openapi.js');
const app = await NestFactory.create(AppModule, { bodyParser: false, logger: ['error'] });
try {
  await app.init();
  const document = JSON.parse(await app.get(OpenApi).text());
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
} finally {
  await app.close();
}
