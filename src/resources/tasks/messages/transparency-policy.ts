import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { transparencyOf, transparencyWith, type Transparency } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { originOf } from '../../../platform/http/origin.js';
import type { MessageRow } from './message.sql.js';
import { messageView } from './message.view.js';
import type { TaskRow } from '../task.sql.js';
import { taskView } from '../task.view.js';

/**
 * Applies the transparency policy, the workspace's or the deployment's, when messages and tasks are read: a change works on
 * history.
 */
@Injectable()
export class TransparencyPolicy {
  /** Where a workspace has no policy of its own. */
  readonly deployment: Transparency;

  constructor(private readonly env: Env) {
    this.deployment = transparencyOf(env.file);
  }

  /** A page without the messages that have no exposed part: it may hold fewer than `limit`. */
  page(auth: AuthContext, { rows, nextCursor }: { rows: MessageRow[]; nextCursor: string | null }, req: Request) {
    const context = { transparency: this.of(auth), origin: originOf(req, this.env) };
    const messages = rows.map((row) => messageView(row, context)).filter(({ parts }) => parts.length > 0);
    return { messages, nextCursor };
  }

  /** The answer to a send shows the message as it was sent, whatever the policy. */
  sent(auth: AuthContext, { message, task }: { message: MessageRow; task: TaskRow }, req: Request) {
    const transparency = { ...this.deployment, text: true, files: true };
    const sent = messageView(message, { transparency, origin: originOf(req, this.env) });
    return { message: sent, ...this.task(auth, task) };
  }

  task(auth: AuthContext, row: TaskRow) {
    return { task: taskView(row, this.of(auth)) };
  }

  tasks(auth: AuthContext, { rows, nextCursor }: { rows: TaskRow[]; nextCursor: string | null }) {
    const policy = this.of(auth);
    return { tasks: rows.map((row) => taskView(row, policy)), nextCursor };
  }

  /** What the caller's workspace shows. */
  of({ workspace }: AuthContext): Transparency {
    return workspace.exposed === null ? this.deployment : transparencyWith(workspace.exposed);
  }
}
