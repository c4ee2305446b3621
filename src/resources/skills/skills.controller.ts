import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { contentAnswers, sendContent } from '../files/file-content.js';
import { FileStorage } from '../files/storage/file-storage.js';
import { ChangeSkillDto, SkillContentQuery } from './skill.dto.js';
import { skillAnswer, skillSchema, skillVersionSchema, skillVersionView, skillView } from './skill.view.js';
import { SkillsService } from './skills.service.js';

const READS = { policy: 'resource_read', scopes: ['projects:read'] } as const;
const WRITES = { policy: 'resource_write', scopes: ['projects:write'], transaction: true } as const;

@Controller('v1/skills')
export class SkillsController {
  constructor(
    private readonly skills: SkillsService,
    private readonly storage: FileStorage,
  ) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List skills',
    description: 'Newest first: those of the workspace, each as its newest version.',
    answer: pageSchema('skills', skillSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.skills.list(auth, page);
    return { skills: rows.map(skillView), nextCursor };
  }

  @Post()
  @Endpoint({
    summary: 'Upload a skill',
    description:
      'A zip with a `SKILL.md` at its root, or in its one folder. A name that is known gets its next version, from who made it, owners and admins, and from the latter two alone while all tasks have it; the zip of its newest version makes none. What is not as it has to be is 400 `invalid_skill`, with file and line. At most 10 MiB, unpacked 30 MiB in 500 files; at most 200 skills in a workspace.',
    policy: 'file_upload',
    stores: 'file',
    scopes: ['projects:write'],
    body: 'stream',
    location: '/v1/skills/{skill.id}',
    answer: skillAnswer,
  })
  async push(@Auth() auth: AuthContext, @Req() request: Request) {
    return { skill: skillView(await this.skills.push(auth, request)) };
  }

  @Get(':skillId')
  @Endpoint({ ...READS, summary: 'Read a skill', answer: skillAnswer })
  async get(@Auth() auth: AuthContext, @Param('skillId') id: string) {
    return { skill: skillView(await this.skills.get(auth, id)) };
  }

  @Patch(':skillId')
  @Endpoint({
    ...WRITES,
    summary: 'Change a skill',
    description:
      'Gives it to all tasks that name no skills, 20 skills at most, or takes it from them: for owners and admins; else 403 `role_not_allowed`. `{}` changes nothing.',
    answer: skillAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('skillId') id: string,
    @Body() body: ChangeSkillDto,
  ) {
    return { skill: skillView(await this.skills.change(auth, tx, id, body)) };
  }

  @Delete(':skillId')
  @Endpoint({
    ...WRITES,
    summary: 'Delete a skill',
    description:
      'For good, with all of its versions; tasks that have it go on without. While an automation names it: 409 `skill_in_use`.',
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('skillId') id: string) {
    await this.skills.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }

  @Get(':skillId/versions')
  @Endpoint({
    ...READS,
    summary: 'List the versions of a skill',
    description: 'Newest first.',
    answer: pageSchema('versions', skillVersionSchema),
  })
  async versions(@Auth() auth: AuthContext, @Param('skillId') id: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.skills.versions(auth, id, page);
    return { versions: rows.map(skillVersionView), nextCursor };
  }

  @Get(':skillId/content')
  @Endpoint({
    ...READS,
    summary: 'Download a skill',
    description: 'The zip of a version, as it was uploaded. Takes ranges and conditions as the content of a file does.',
    answer: contentAnswers({
      ETag: 'The SHA-256 of the zip.',
      'Last-Modified': 'When the version was made; it never changes.',
    }),
    errors: [412, 416],
  })
  async content(
    @Auth() auth: AuthContext,
    @Param('skillId') id: string,
    @Query() { version }: SkillContentQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const zip = await this.skills.zip(auth, id, version ?? null);
    await sendContent(request, response, zip, (range) => this.storage.open(zip.workspaceId, zip.sha256, range));
  }
}
