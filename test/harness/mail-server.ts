// An SMTP server (RFC 5321) that keeps what it is sent. Without TLS; with a password where the test has one.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { until } from './until.js';

export interface Mail {
  from: string;
  to: string[];
  /** Lines, the first empty one after the headers. */
  lines: string[];
}

/** A header of a mail without its folds; null when there is none. */
export function headerOf({ lines }: Mail, name: string): string | null {
  const head = lines
    .slice(0, lines.indexOf(''))
    .join('\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  const found = head.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  if (found.length > 1) throw new Error(`${name} is there ${found.length} times.`);
  return found[0]?.slice(name.length + 1).trim() ?? null;
}

/** The text of a mail that is sent as it is or as quoted-printable. */
export function textOf(mail: Mail): string {
  const body = mail.lines.slice(mail.lines.indexOf('') + 1).join('\n');
  if (headerOf(mail, 'Content-Transfer-Encoding') !== 'quoted-printable') return body;
  const bytes = body.replace(/=\n/g, '').replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
} // prettier-ignore

export class MailServer {
  readonly mails: Mail[] = [];
  /** What is answered to a command instead of what is usual: `MAIL` → `451 later`, once for each entry. */
  readonly answers: [command: string, answer: string][] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  /** @param login `user:password`; without it nobody has to log in. */
  static async listen(login: string | null = null): Promise<MailServer> {
    const server = createServer((socket) => mails.serve(socket, login));
    const mails = new MailServer(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return mails;
  }

  /** @param login as it stands in a URL. */
  url(login = ''): string {
    return `smtp://${login === '' ? '' : `${login}@`}127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  gets(count: number): Promise<Mail[]> {
    return until(`${count} mails`, () => this.mails.length >= count && this.mails);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket, login: string | null): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    let [mail, data]: [Mail, boolean] = [{ from: '', to: [], lines: [] }, false];
    say('220 mail.test');
    const lines = createInterface({ input: socket, crlfDelay: Infinity });
    // It passes on that a killed process has left the connection.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      if (data && line !== '.') return void mail.lines.push(line.replace(/^\.\./, '.'));
      const command = data ? '.' : (line.split(/[ :]/)[0] ?? '').toUpperCase();
      data = false;
      const other = this.answers.findIndex(([name]) => name === command);
      if (other >= 0) return void say(this.answers.splice(other, 1)[0]?.[1] ?? '');
      if (command === 'EHLO') say(login === null ? '250 mail.test' : '250-mail.test\r\n250 AUTH PLAIN');
      else if (command === 'AUTH') {
        const given = Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0')
          .slice(1)
          .join(':');
        say(given === login ? '235 welcome' : `535 ${given} is nobody here`);
      } else if (command === '.') {
        this.mails.push(mail);
        mail = { from: '', to: [], lines: [] };
        say('250 taken');
      } else if (command === 'DATA') {
        data = true;
        say('354 go on');
      } else {
        const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
        if (command === 'MAIL') mail.from = address;
        if (command === 'RCPT') mail.to.push(address);
        say(command === 'QUIT' ? '221 bye' : '250 ok');
      }
    });
  }
}
