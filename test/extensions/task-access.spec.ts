import { Body, Controller, Get, Module, Param, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { z } from 'zod';
import { Auth, type AuthContext, Database, Endpoint, TaskAccess, Tx, type UnitOfWork, visible } from 'millwright';
import { sql } from '../../src/platform/database/sql.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holdingTask, untilWaiting } from '../harness/locks.js';
import { createTask } from '../harness/tasks.js';

const SEEN = sql`SELECT t.id FROM tasks t WHERE ${visible('t')}`.rows<{ id: string }>();

class MarkDto {
  @IsString()
  taskId: string;
}

/** What a foreign resource that hangs on tasks needs of them. */
@Controller('v1/marks')
class MarksController {
  constructor(
    private readonly access: TaskAccess,
    private readonly database: Database,
  ) {}

  @Get()
  @Endpoint({
    summary: 'Which tasks can be marked',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: z.strictObject({ ids: z.array(z.string()) }),
  })
  async list(@Auth() auth: AuthContext) {
    return { ids: (await this.database.read.run(SEEN({ auth }))).map(({ id }) => id) };
  }

  @Get(':taskId')
  @Endpoint({
    summary: 'Whether a task can be marked',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: z.strictObject({ seen: z.boolean() }),
  })
  async get(@Auth() auth: AuthContext, @Param('taskId') taskId: string) {
    await this.access.check(auth, taskId);
    return { seen: true };
  }

  @Post()
  @Endpoint({
    summary: 'Mark a task',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    idempotency: 'optional',
    transaction: true,
    answer: z.strictObject({ status: z.string() }),
  })
  async mark(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() { taskId }: MarkDto) {
    return { status: (await this.access.hold(auth, tx, taskId)).status };
  }
}

@Module({ controllers: [MarksController] })
class MarksModule {}

describe('TaskAccess, for a foreign resource of tasks (reference §3)', () => {
  const service = useService(() => bootApp({ imports: [MarksModule] }));
  let creator: Member;
  let colleague: Member;
  let admin: Member;
  let id: string;

  beforeAll(async () => {
    creator = await makeMember(service);
    const { workspace } = creator;
    [colleague, admin] = [
      await makeMember(service, { workspace }),
      await makeMember(service, { workspace, role: 'admin' }),
    ];
    ({ id } = await createTask(creator.client, { content: 'x' }));
  });

  const read = async ({ client }: Member, task: string) => (await client.get(`/v1/marks/${task}`)).status;
  const mark = ({ client }: Member, taskId: string) =>
    client.post<ErrorBody & { status: string }>('/v1/marks', { taskId });

  it('a task is there for who sees it, and 404 for everybody else', async () => {
    const stranger = await makeMember(service);
    const everyone = [creator, admin, colleague, stranger];
    expect(await Promise.all(everyone.map((one) => read(one, id)))).toEqual([200, 200, 404, 404]);
    const marks = await Promise.all(everyone.map((one) => mark(one, id)));
    expect(marks.map(({ status }) => status)).toEqual([201, 201, 404, 404]);
    expect(marks[0]?.body.status).toBe('queued');
    expect(marks[2]?.body.error.code).toBe('not_found');
    expect([await read(creator, 'none'), (await mark(creator, 'none')).status]).toEqual([404, 404]);
    const lists = await Promise.all(everyone.map(({ client }) => client.get<{ ids: string[] }>('/v1/marks')));
    expect(lists.map(({ body }) => body.ids)).toEqual([[id], [id], [], []]);
  });

  it('a held task is moved by nobody else', async () => {
    const holder = await holdingTask(service.db, id);
    const marking = mark(creator, id);
    try {
      await untilWaiting(service.db, 'FOR UPDATE OF t');
      await holder.query(`UPDATE tasks SET status = 'cancelled', finished_at = now() WHERE id = $1`, [id]);
    } finally {
      await holder.release();
    }
    expect((await marking).body.status).toBe('cancelled');
  });
});
