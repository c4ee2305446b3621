import { inspect, types } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { pino, type Level, type Logger as Pino } from 'pino';

/** What Nest and the service log, as JSON lines on standard output, from LOG_LEVEL on. */
export class PinoLogger implements LoggerService {
  readonly pino: Pino;

  /** @param level of LOG_LEVEL; `silent` for none. */
  constructor(level = 'info') {
    // No pid and host: whoever collects the lines of a process knows them.
    this.pino = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
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
    const details = { context: texts.pop(), stack: texts.pop() };
    if (types.isNativeError(message)) this.pino[level]({ ...details, err: message });
    else if (typeof message === 'object') this.pino[level]({ ...details, ...message });
    else this.pino[level](details, typeof message === 'string' ? message : inspect(message));
  }
}
