// Starts one process for its ROLE. The port opens only when everything is ready.
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ConfigurationError, Env } from './config/env.js';
import { configureHttp } from './http/configure-http.js';

try {
  // Imported late: a wrong environment stops the boot while the module is composed, with a message instead of a stack.
  const { AppModule } = await import('./app.module.js');
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    bodyParser: false,
    abortOnError: false,
    bufferLogs: true,
  });
  const env = app.get(Env);
  configureHttp(app, env);
  app.enableShutdownHooks([], { useProcessExit: true });
  await app.listen(env.variables.PORT, env.variables.HOST);
  new Logger('Millwright').log(`Ready at ${await app.getUrl()}`);
} catch (error) {
  console.error(error instanceof ConfigurationError ? error.message : error);
  process.exitCode = 1;
  // A failed boot may leave timers or sockets of modules that did start.
  setTimeout(() => process.exit(1), 1000).unref();
}
