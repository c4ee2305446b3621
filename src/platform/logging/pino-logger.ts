import { inspect, types } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger as Pino, pino } from 'pino';
import { redactor } from './redaction.js';

// What Nest reports of its own work, a line for each module and route.
const WIRING = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];
// Of a database that is not there yet TypeORM repeats at each attempt where in its code it waits.
const NO_STACK = 'TypeOrmModule';
/** Errors whose message is one for the operator and says what to do. The program ends with it. */
const FOR_OPERATORS = ['ConfigurationError', 'SandboxError'];

/** Whether the message alone says what to do. */
export function isForOperators(error: unknown): error is Error {
  return error instanceof Error && FOR_OPERATORS.includes(error.name);
}

/** Milliseconds after which a line is written at the latest. */
const TOGETHER_MS = 100;

/**
 * Standard output, lines written together and beside the event loop: one by one the line of a request costs 40 of its 390 µs. A process that ends by
 * itself writes all of them, one that is killed may lose those of the last 100 ms.
 */
export function linesTogether(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: TOGETHER_MS });
}

/** What Nest and the service log, as JSON lines on standard output, from LOG_LEVEL on. */
export class PinoLogger implements LoggerService {
  readonly pino: Pino;

  /**
   * @param level of LOG_LEVEL; `silent` for none.
   * @param destination standard output when not given.
   * @param secrets what no line may hold, beside keys.
   */
  constructor(
    level = 'info',
    { destination, secrets = [] }: { destination?: DestinationStream | undefined; secrets?: readonly string[] } = {},
  ) {
    const hooks = { streamWrite: redactor(secrets) };
    // Without pid and host: the collector of a process's lines knows them.
    const options = {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorView },
      hooks,
    };
    this.pino = destination === undefined ? pino(options) : pino(options, destination);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.some((context) => rest.at(-1) === context) ? 'debug' : 'info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    // Nest says that the boot failed, and so does the program, last and without a stack.
    if (isForOperators(message) && rest.at(-1) === 'ExceptionHandler') return;
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest's convention: the last text is the name of who logs, one before it a stack. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.pino.isLevelEnabled(level)) return;
    const texts = rest.filter((item) => typeof item === 'string');
    const context = texts.pop();
    const details = { context, stack: context === NO_STACK ? undefined : texts.pop() };
    if (types.isNativeError(message)) this.pino[level]({ ...details, err: message });
    else if (typeof message === 'object') this.pino[level]({ ...details, ...message });
    else this.pino[level](details, typeof message === 'string' ? message : inspect(message));
  }
}

/** Of an error what helps to find it. Errors of the database also carry the values of the statement: those are clients' data. */
function errorView(error: unknown): object {
  if (!types.isNativeError(error)) return { message: String(error) };
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown };
  const cause = error.cause === undefined ? undefined : errorView(error.cause);
  return { type: error.name, message: error.message, code, constraint, table, stack: error.stack, cause };
}
