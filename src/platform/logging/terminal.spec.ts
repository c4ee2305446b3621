import { PinoLogger } from './pino-logger.js';
import { TerminalLines } from './terminal.js';

describe('TerminalLines', () => {
  const said: string[] = [];
  const out = { write: (text: string) => said.push(text) };
  beforeEach(() => said.splice(0));

  it('while it boots, shows what the service itself says, and warnings and errors of all', () => {
    const logger = new PinoLogger('info', { destination: new TerminalLines(out, false) });
    logger.log('PostgreSQL started', 'PostgreSQL');
    logger.log('Ready at http://127.0.0.1:3000', 'Millwright');
    logger.warn('The limit is not kept.', 'SandboxSelector');
    logger.error('Broken', 'Error: at …', 'Runs');
    expect(said).toEqual([
      'Ready at http://127.0.0.1:3000\n',
      'Warning, SandboxSelector: The limit is not kept.\n',
      'Error, Runs: Broken\nError: at …\n',
    ]);
  });
  it('shows all afterwards, and from the beginning when it is to be verbose', () => {
    const lines = new TerminalLines(out, false);
    lines.booted();
    new PinoLogger('info', { destination: lines }).log('Redis decides again.', 'RedisBuckets');
    new PinoLogger('debug', { destination: new TerminalLines(out, true) }).log('PostgreSQL started', 'PostgreSQL');
    expect(said).toEqual(['RedisBuckets: Redis decides again.\n', 'PostgreSQL: PostgreSQL started\n']);
  });
  it('leaves out the line of each request, unless it is to be verbose', () => {
    for (const verbose of [false, true]) {
      const lines = new TerminalLines(out, verbose);
      lines.booted();
      new PinoLogger('info', { destination: lines }).log({ method: 'GET', status: 200 }, 'http');
    }
    expect(said).toEqual(['http: {"method":"GET","status":200}\n']);
  });
  it('shows control characters that come from outside as text, and keeps lines and tabs', () => {
    const logger = new PinoLogger('info', { destination: new TerminalLines(out, false) });
    logger.error('GET /\u001b]0;owned\u0007\u009b2J\r', 'Error: \u001b[31m\n\tat …', 'Http');
    expect(said).toEqual(['Error, Http: GET /\\x1b]0;owned\\x07\\x9b2J\\x0d\nError: \\x1b[31m\n\tat …\n']);
  });
  it('shows the fields of a line and the stack of an error', () => {
    const lines = new TerminalLines(out, true);
    new PinoLogger('debug', { destination: lines }).debug({ method: 'GET', status: 200 }, 'http');
    new PinoLogger('debug', { destination: lines }).error(new Error('unforeseen'), 'Runs');
    expect(said[0]).toBe('Debug, http: {"method":"GET","status":200}\n');
    expect(said[1]).toMatch(/^Error, Runs: unforeseen\nError: unforeseen\n {4}at /);
  });
});
