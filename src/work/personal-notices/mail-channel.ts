import { Injectable } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { Env } from '../../platform/config/env.js';
import { type Content, headline, plainText } from './content.js';
import { notSent, sent, type Sent } from './sent.js';

/** Milliseconds: until there is a connection, until the server greets, and for each silence after that. */
const LIMITS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
const HERE = ['localhost', '127.0.0.1', '[::1]'];

/** What nodemailer says of a failure. */
interface MailError {
  code?: string;
  /** Of the system's error, where it is one. */
  syscall?: string;
  /** What the server has answered. */
  responseCode?: number;
}

/** Sends a notice as an e-mail of plain text, by the server that the operator has named (SMTP_URL). */
@Injectable()
export class MailChannel {
  private readonly url: URL | null;
  private readonly from: string;
  private transporter: Promise<Transporter> | null = null;

  constructor({ variables: { SMTP_URL, SMTP_FROM } }: Env) {
    this.url = SMTP_URL === undefined ? null : new URL(SMTP_URL);
    this.from = SMTP_FROM ?? '';
  }

  /** Never rejects. @param id of the notice: the message has it as its own. */
  async send(address: string, content: Content, id: string): Promise<Sent> {
    if (this.url === null) return notSent('failed', 'there is no SMTP_URL');
    this.transporter ??= openMail(this.url);
    try {
      const transporter = await this.transporter;
      await transporter.sendMail({
        from: { name: 'Millwright', address: this.from },
        to: { name: '', address },
        // Nothing of an address is taken for a second one.
        envelope: { from: this.from, to: [address] },
        subject: headline(content),
        text: `${plainText(content)}\n`,
        messageId: `<${id}@${this.from.split('@')[1]}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return sent;
    } catch (error) {
      return judged(error as MailError);
    }
  }
}

/** The mail server of SMTP_URL. A connection for each message: they are few, and one that broke holds up no other. */
export async function openMail(url: URL): Promise<Transporter> {
  // Only where somebody takes notices by e-mail.
  const { createTransport } = await import('nodemailer');
  const secure = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const auth = user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } };
  // A password goes nowhere in the clear, whatever the server offers.
  const requireTLS = !secure && user !== '' && !HERE.includes(url.hostname);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return createTransport({
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS,
    ...auth,
    ...LIMITS,
  });
}

/**
 * Whether the server may have taken the message. After an answer that refuses it, and without a connection, it has not. A connection that broke
 * leaves it open: nodemailer does not say how far it was.
 */
function judged({ code, syscall, responseCode }: MailError): Sent {
  const why = [code, responseCode].filter((one) => one !== undefined).join(' ');
  if (responseCode !== undefined) return notSent(responseCode < 500 ? 'again' : 'failed', why);
  return notSent(code === 'EDNS' || syscall === 'connect' ? 'again' : 'failed', why);
}
