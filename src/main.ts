// Starts one process for its ROLE. The port opens only when everything is ready.
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ConfigurationError, type Env } from './platform/config/env.js';
import { configureHttp } from './platform/http/configure-http.js';
import { PinoLogger } from './platform/logging/pino-logger.js';

try {
  // Imported late: composing it reads the environment, and a wrong value is answered below, without a stack.
  const { AppModule, env } = await import('./app.module.js');
  const logger = new PinoLogger(env.variables.LOG_LEVEL);
  const options = { bodyParser: false, abortOnError: false, logger };
  const app = await NestFactory.create<NestExpressApplication>(AppModule, options);
  configureHttp(app, env);
  // An empty list stands for the usual signals.
  app.enableShutdownHooks([], { useProcessExit: true });
  await listen(app, env);
  new Logger('Millwright').log(`Ready at ${await app.getUrl()}`);
} catch (error) {
  // What modules that are still being made may say of the missing rest would only mislead.
  Logger.overrideLogger(false);
  console.error(isForOperators(error) ? error.message : error);
  process.exitCode = 1;
  // A failed boot may leave timers or sockets of modules that did start.
  setTimeout(() => process.exit(1), 1000).unref();
}

async function listen(app: NestExpressApplication, { variables: { HOST, PORT } }: Env): Promise<void> {
  try {
    await app.listen(PORT, HOST);
  } catch (error) {
    await app.close();
    // Before it listens it begins its work, which has reasons of its own to fail.
    const { syscall, message: reason } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error;
    throw new ConfigurationError(
      `HOST, PORT: an address that is free is expected, and ${HOST}:${PORT} is not (${reason}).`,
    );
  }
}

/** Whether the message alone says what to do. */
function isForOperators(error: unknown): error is Error {
  return error instanceof Error && ['ConfigurationError', 'SandboxError'].includes(error.name);
}
