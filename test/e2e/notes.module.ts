// A foreign module: a resource that exists only here, to drive the pipeline through every kind of route.
import { Body, Controller, Delete, Get, HttpCode, Module, Param, Post, Req } from '@nestjs/common';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsObject, IsOptional, IsString, MaxLength, MinLength, ValidateNested } from 'class-validator'; // prettier-ignore
import type { Request } from 'express';
import { z } from 'zod';
import { v7 as uuidv7 } from 'uuid';
import { Auth } from '../../src/access/auth/auth.decorator.js';
import { Page } from '../../src/access/auth/page.decorator.js';
import { AuthContext } from '../../src/access/auth/auth-context.js';
import { ApiError, notFound } from '../../src/platform/http/api-error.js';
import { Endpoint } from '../../src/platform/http/endpoint.js';
import { deletedSchema, idSchema, named, pageSchema } from '../../src/platform/http/schema.js';
import { PageQuery, type PageRequest } from '../../src/platform/http/pages.js';
import { Tx } from '../../src/platform/http/tx.js';
import { sql, text, uuid } from '../../src/platform/database/sql.js';
import type { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import type { TestDatabase } from '../harness/database.js';

export const NOTES = 'CREATE TABLE notes (id uuid PRIMARY KEY, workspace_id uuid NOT NULL, text text NOT NULL UNIQUE)';

class LinkBody {
  @IsString()
  @MinLength(3)
  url: string;
}

class StyleBody {
  @IsIn(['plain', 'bold'])
  weight: string;
}

export class NoteBody {
  @IsString()
  @MaxLength(200)
  text: string;

  @IsArray()
  @ArrayMaxSize(3)
  @ValidateNested({ each: true })
  @Type(() => LinkBody)
  @IsOptional()
  links?: LinkBody[];

  @IsObject()
  @ValidateNested()
  @Type(() => StyleBody)
  @IsOptional()
  style?: StyleBody | null;
}

class NoteQuery extends PageQuery {
  @IsString()
  @IsOptional()
  contains?: string;
}

const noteSchema = named('StoredNote', z.strictObject({ id: idSchema, text: z.string() }));
const noteAnswer = z.strictObject({ note: noteSchema });
const nothing = z.strictObject({});

interface Note {
  id: string;
  text: string;
}

const INSERT = sql`
INSERT INTO notes VALUES (${uuid('id')}, ${uuid('workspaceId')}, ${text('text')}) RETURNING id, text`.rows<Note>();
const WAIT = sql`SELECT pg_sleep(2.6)`.rows();
const TOUCH = sql`UPDATE notes SET text = text || '!' WHERE id::text = ${text('id')} RETURNING id, text`.rows<Note>();
const DELETE = sql`DELETE FROM notes WHERE id::text = ${text('id')}`.rows();

/** What the handlers did beside the database. */
export const done = { committed: [] as string[], handled: 0, /** Bytes of an upload under way. */ reading: 0 };

@Controller('v1/notes')
export class NotesController {
  @Post()
  @Endpoint({
    summary: 'Write a note',
    answer: noteAnswer,
    policy: 'task_execution',
    scopes: ['tasks:write'],
    transaction: true,
    idempotency: 'required',
    location: '/v1/notes/{note.id}',
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: NoteBody) {
    done.handled++;
    if (body.text === 'unknown') throw notFound('project', 'projectId');
    const [note] = await tx.run(INSERT({ id: uuidv7(), workspaceId: auth.workspaceId, text: body.text }));
    if (body.text === 'slower') await tx.run(WAIT());
    if (body.text === 'broken') throw new Error('a secret of the inside');
    tx.afterCommit(() => done.committed.push(body.text));
    return { note };
  }

  @Post('optional')
  @Endpoint({
    summary: 'Write a note, perhaps with a key',
    answer: noteAnswer,
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    idempotency: 'optional',
  })
  createAgain(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: NoteBody) {
    return this.create(auth, tx, body);
  }

  @Post('upload')
  @Endpoint({
    summary: 'Count bytes',
    answer: z.strictObject({ size: z.int() }),
    policy: 'file_upload',
    scopes: ['files:write'],
    body: 'stream',
    accepts: 'application/octet-stream',
    location: '/v1/files/{size}',
  })
  async upload(@Req() req: Request) {
    let size = 0;
    try {
      for await (const chunk of req as AsyncIterable<Buffer>) done.reading = size += chunk.length;
      return { size };
    } finally {
      done.reading = 0;
    }
  }

  @Post(':id/touch')
  @HttpCode(200)
  @Endpoint({
    summary: 'Touch a note',
    answer: z.strictObject({ rows: z.array(noteSchema) }),
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
  })
  async touch(@Tx() tx: UnitOfWork, @Param('id') id: string) {
    return { rows: await tx.run(TOUCH({ id })) };
  }

  @Delete(':id')
  @Endpoint({
    summary: 'Remove',
    answer: deletedSchema,
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
  })
  async remove(@Tx() tx: UnitOfWork, @Param('id') id: string) {
    await tx.run(DELETE({ id }));
    return { deleted: true, id };
  }

  @Get()
  @Endpoint({
    summary: 'List notes',
    answer: pageSchema('notes', z.int()),
    policy: 'resource_read',
    scopes: ['tasks:read'],
  })
  list(@Page(NoteQuery) page: PageRequest<NoteQuery>) {
    const begin = Number(page.after?.[0] ?? 0);
    const all = Array.from({ length: page.limit + 1 }, (_, i) => begin + i + 1).filter((n) => n <= 5);
    const { rows, nextCursor } = page.cut(all, (n) => [String(n)]);
    return { notes: rows, nextCursor };
  }

  @Get('any')
  @Endpoint({ summary: 'Do nothing', answer: nothing, policy: 'metadata_read', scopes: 'any' })
  any() {
    return {};
  }

  @Get('both')
  @Endpoint({ summary: 'Do both', answer: nothing, policy: 'metadata_read', scopes: ['tasks:read', 'files:read'] })
  both() {
    return {};
  }

  @Get('fail/:how')
  @Endpoint({ summary: 'Fail', answer: nothing, policy: 'metadata_read', scopes: ['tasks:read'] })
  fail(@Param('how') how: string) {
    if (how === 'error') throw new Error('a secret of the inside');
    if (how === 'text') throw 'a secret of the inside' as unknown as Error;
    throw new ApiError('unavailable', 'Later.', { cause: new Error('a secret of the inside') });
  }
}

@Controller('open')
export class OpenController {
  @Get()
  @Endpoint({ summary: 'Be open', answer: z.strictObject({ open: z.boolean() }), policy: null, scopes: 'public' })
  open() {
    return { open: true };
  }
}

@Module({ controllers: [NotesController, OpenController] })
export class NotesModule {}

export async function makeNotes(db: TestDatabase): Promise<void> {
  await db.query(NOTES);
  Object.assign(done, { committed: [], handled: 0, reading: 0 });
}
