import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Documented } from '../../platform/http/documented.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { named } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { BuildAsks } from './build-asks.js';
import { buildSchema, buildView } from './environment.view.js';

const WHO = 'With a personal key of an owner or admin; else 403 `role_not_allowed`.';
const RUNS = { policy: 'task_execution', scopes: ['projects:write'], stores: true } as const;

/** `{build}` */
const buildAnswer = named('EnvironmentBuildResponse', z.strictObject({ build: buildSchema }));
const testAnswer = named(
  'EnvironmentTestResponse',
  z.strictObject({
    exitCode: z.int(),
    stdout: z.string().describe('Beginning and end, at most 64 KiB each.'),
    stderr: z.string(),
  }),
);

export class TestEnvironmentDto {
  @IsString()
  @Matches(/\S/, { message: '$property must not be blank' })
  @MinLength(1)
  @MaxLength(4096)
  @Documented({ description: 'For bash. It may take a minute.' })
  command: string;
}

@Controller('v1/environments')
export class BuildAsksController {
  constructor(private readonly asks: BuildAsks) {}

  @Post(':slug/build')
  @HttpCode(202)
  @Endpoint({
    ...RUNS,
    transaction: true,
    summary: 'Build an environment now',
    description: `${WHO} The newest version, although it has a build. While that is made tasks begin from the last one. One that is being made already is answered.`,
    answer: buildAnswer,
  })
  async build(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('slug') slug: string) {
    return { build: buildView(await this.asks.build(auth, tx, slug)) };
  }

  @Post(':slug/test')
  @HttpCode(200)
  @Endpoint({
    ...RUNS,
    asksOutside: true,
    summary: 'Try a command in an environment',
    description: `${WHO} It runs in a copy of the last build of the newest version, which is removed then. Without a build: 409 \`environment_not_built\`.`,
    answer: testAnswer,
  })
  async test(@Auth() auth: AuthContext, @Param('slug') slug: string, @Body() { command }: TestEnvironmentDto) {
    return this.asks.test(auth, slug, command);
  }
}
