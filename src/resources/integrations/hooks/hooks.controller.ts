import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { named } from '../../../platform/http/schema.js';
import { type HookAnswer, HooksService } from './hooks.service.js';

const acceptedSchema = named('HookAccepted', z.strictObject({ accepted: z.literal(true) }));
const duplicateSchema = named('HookDuplicate', z.strictObject({ duplicate: z.literal(true) }));
const handshakeSchema = named('HookHandshake', z.record(z.string(), z.unknown()), {
  description: 'What the provider prescribes: `{"challenge": …}` for Slack.',
});

@Controller('hooks')
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Post(':connectionId')
  @HttpCode(200)
  @Endpoint({
    summary: 'Take a delivery of a provider',
    description:
      'Signed by the scheme of the provider, over the bytes of the body; at most 25 MiB of JSON. A delivery that comes again within 30 days has no effect.',
    policy: null,
    scopes: 'public',
    body: 'raw',
    query: 'ignored',
    stores: true,
    answer: {
      200: {
        description: 'Taken, taken before, or the answer to a handshake.',
        content: {
          'application/json': z.union([acceptedSchema, duplicateSchema, handshakeSchema]),
          'text/plain': null,
        },
      },
    },
  })
  async receive(@Param('connectionId') id: string, @Req() req: Request, @Res() res: Response): Promise<void> {
    send(res, await this.hooks.receive(id, req));
  }
}

function send(res: Response, { status, body }: HookAnswer): void {
  res.status(status);
  if (typeof body === 'string') res.type('text/plain').send(body);
  else res.json(body);
}
