import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { transparencyOf, type Transparency } from '../config/config-file.js';
import { Env } from '../config/env.js';
import { originOf } from '../http/origin.js';
import type { MessageRow } from './message.row.js';
import { messageView } from './message.view.js';
import type { TaskRow } from './task.row.js';
import { taskView } from './task.view.js';

/** Applies the deployment's transparency policy when messages are read, so that a change works on history too. */
@Injectable()
export class MessageExposure {
  private readonly transparency: Transparency;

  constructor(private readonly env: Env) {
    this.transparency = transparencyOf(env.file);
  }

  /** A page without the messages that have no exposed part: it may hold fewer than `limit`. */
  page({ rows, nextCursor }: { rows: MessageRow[]; nextCursor: string | null }, req: Request) {
    const context = { transparency: this.transparency, origin: originOf(req, this.env) };
    const messages = rows.map((row) => messageView(row, context)).filter(({ parts }) => parts.length > 0);
    return { messages, nextCursor };
  }

  /** The answer to a send shows the message as it was sent, whatever the policy. */
  sent({ message, task }: { message: MessageRow; task: TaskRow }, req: Request) {
    const transparency = { ...this.transparency, text: true, files: true };
    return { message: messageView(message, { transparency, origin: originOf(req, this.env) }), task: taskView(task) };
  }
}
