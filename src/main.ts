// Starts one process for its ROLE. The port opens only when everything is ready.
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ModelCatalog } from './engine/models/model-catalog.js';
import { SandboxSelector } from './engine/sandbox/sandbox-selector.js';
import { ConfigurationError, type Env } from './platform/config/env.js';
import { configureHttp } from './platform/http/configure-http.js';
import { isForOperators, linesTogether, PinoLogger } from './platform/logging/pino-logger.js';
import { redactor, secretsOf } from './platform/logging/redaction.js';
import { TerminalLines } from './platform/logging/terminal.js';

/**
 * Connections that the kernel keeps while the event loop is busy, or `net.core.somaxconn` (4,096) where that is fewer. With Node's 511 a
 * flood of connections from one client made the others knock again after 1, 3, 7 and 15 seconds.
 */
const BACKLOG = 65_535;

let hide = redactor();

try {
  // Imported late: composing it reads the environment, and a wrong value is answered below, without a stack.
  const { AppModule, env } = await import('./app.module.js');
  await checkHost(env);
  hide = redactor(secretsOf(env));
  const { LOG_LEVEL } = env.variables;
  const verbose = LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace';
  const terminal = process.stdout.isTTY ? new TerminalLines(process.stdout, verbose) : undefined;
  const destination = terminal ?? linesTogether();
  const logger = new PinoLogger(LOG_LEVEL, { destination, secrets: secretsOf(env) });
  const options = { bodyParser: false, abortOnError: false, logger };
  const app = await NestFactory.create<NestExpressApplication>(AppModule, options);
  configureHttp(app, env, logger);
  // An empty list stands for the usual signals.
  app.enableShutdownHooks([], { useProcessExit: true });
  await listen(app, env);
  const own = new Logger('Millwright');
  own.log(`Ready at ${await app.getUrl()}`);
  if (terminal !== undefined) own.log(worksWith(app, env));
  terminal?.booted();
} catch (error) {
  // What modules that are still being made may say of the missing rest would only mislead.
  Logger.overrideLogger(false);
  console.error(hide(isForOperators(error) ? error.message : inspect(error)));
  process.exitCode = 1;
  // A failed boot may leave timers or sockets of modules that did start.
  setTimeout(() => process.exit(1), 1000).unref();
}

/** Before the embedded database starts: a host that is not of this machine would be found out last, at {@link listen}. */
async function checkHost({ variables: { HOST } }: Env): Promise<void> {
  const probe = createServer().listen(0, HOST);
  try {
    await once(probe, 'listening');
  } catch (error) {
    throw new ConfigurationError(
      `HOST: an address of this machine is expected, and ${HOST} is none (${(error as Error).message}).`,
    );
  }
  probe.close();
}

async function listen(app: NestExpressApplication, { variables: { HOST, PORT } }: Env): Promise<void> {
  // Nest gives the server whatever stands behind the port; its types know the address alone.
  const open = app.listen.bind(app) as (...address: unknown[]) => Promise<unknown>;
  try {
    await open(PORT, HOST, BACKLOG);
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

/** The models, and how the commands of tasks are kept apart: the log has both, but in many words. */
function worksWith(app: NestExpressApplication, { runsWork }: Env): string {
  const models = app.get(ModelCatalog, { strict: false }).list();
  const sandbox = runsWork ? app.get(SandboxSelector, { strict: false }).report.driver : 'none, ROLE=api runs no task';
  return `Models: ${models.map(({ id }) => id).join(', ')}. Sandbox: ${sandbox}.`;
}
