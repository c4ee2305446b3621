import { Controller, Get, Param } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { sql, uuid } from '../../platform/database/sql.js';
import { notFound } from '../../platform/http/api-error.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { SEEN } from '../tasks/task.sql.js';
import { type ProofEnvelope, proofSchema } from './envelope.js';
import { TaskProof } from './task-proof.entity.js';

const PROOF = columns(TaskProof, 'p', ['envelope']);
const NEWEST = sql`
SELECT ${PROOF} FROM task_proofs p WHERE p.task_id = ${uuid('taskId')} ORDER BY p.turn DESC LIMIT 1`.rows<
  typeof PROOF.row
>();

/** The record of a task's checks that others can verify (reference §26). */
@Controller('v1/tasks/:taskId/proof')
export class TaskProofController {
  constructor(private readonly database: Database) {}

  @Get()
  @Endpoint({
    summary: 'Read the proof of a task',
    description: 'Of the last turn whose checks have run; 404 before. `mw verify` says what it proves.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: proofSchema,
  })
  async read(@Auth() auth: AuthContext, @Param('taskId') taskId: string): Promise<ProofEnvelope> {
    const seen = isUuid(taskId) && (await this.database.read.run(SEEN({ auth, id: taskId }))).length > 0;
    if (!seen) throw notFound('task');
    const [found] = await this.database.read.run(NEWEST({ taskId }));
    if (found === undefined) throw notFound('proof');
    return found.envelope;
  }
}
