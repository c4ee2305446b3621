import { Readable } from 'node:stream';
import { Module } from '@nestjs/common';
import { z } from 'zod';
import { AgentTool, success, type ToolOutcome } from '../../src/engine/agent/agent-tool.js';
import { newId } from '../../src/platform/database/ids.js';
import { Plugin } from '../../src/platform/plugins/plugin.js';

export const SOURCE = { type: 'source_url' as const, sourceId: 's', url: 'https://a.test/', title: null };
const nothing = z.strictObject({});

/** Hands two files over, and adds a part to the message. */
@Plugin(AgentTool, 'hand_over')
class HandOverTool extends AgentTool<typeof nothing> {
  readonly name = 'hand_over';
  readonly description = 'Hands files over.';
  readonly parameters = nothing;
  readonly repeatable = true;
  execute(): Promise<ToolOutcome> {
    const file = (name: string) => ({ id: newId(), name, content: Readable.from([Buffer.from(name)]) });
    return Promise.resolve({ ...success(null), files: [file('a.txt'), file('b.txt')], parts: [SOURCE] });
  }
}

@Module({ providers: [HandOverTool] })
export class HandOverModule {}
