import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import { Env } from '../../platform/config/env.js';
import { webOf } from '../../platform/config/web.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { named } from '../../platform/http/schema.js';

const webSchema = named(
  'Web',
  z.strictObject({
    hosts: z.array(z.string()).describe('As the operator lists them; `*` stands for all.'),
    urls: z.enum(['seen', 'any']).describe('`seen`: only URLs that a person, a note of the owner or a page has named.'),
  }),
);

/** What agents may read of the web (reference §27), for clients that offer `web` of tasks and automations only where it means something. */
@Controller('v1/web')
export class WebController {
  constructor(private readonly env: Env) {}

  @Get()
  @Endpoint({
    summary: 'Read which pages of the web agents may read',
    policy: 'metadata_read',
    scopes: 'any',
    answer: z.strictObject({ web: webSchema.nullable().describe('Null: none.') }),
  })
  read(): { web: z.output<typeof webSchema> | null } {
    const web = webOf(this.env.file);
    return { web: web === null ? null : { hosts: web.hosts, urls: web.urls } };
  }
}
