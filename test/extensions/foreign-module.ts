// What an enterprise team would write: it imports from the public surface alone.
import { Controller, Get, Module, Post, Body } from '@nestjs/common';
import { IsString } from 'class-validator';
import { z } from 'zod';
import {
  AgentTool,
  Auth,
  type AuthContext,
  defineExtension,
  Endpoint,
  type ModelInfo,
  type ModelPart,
  ModelProvider,
  type ModelRequest,
  named,
  Plugin,
  sql,
  success,
  type ToolContext,
  type ToolOutcome,
  Tx,
  type UnitOfWork,
  uuid,
} from 'millwright';

const parameters = z.strictObject({ path: z.string() });
const nothing = z.strictObject({});

/** Says for whom it works. */
@Plugin(AgentTool, 'who_for')
export class WhoForTool extends AgentTool<typeof nothing> {
  readonly name = 'who_for';
  readonly description = 'Says for whom this is done.';
  readonly parameters = nothing;
  readonly repeatable = true;
  override readonly changes = false;

  execute(_input: object, { taskId, workspaceId, userId }: ToolContext): Promise<ToolOutcome> {
    return Promise.resolve(success({ taskId, workspaceId, userId }));
  }
}

/** It does not say that it changes nothing. */
@Plugin(AgentTool, 'count_words')
export class ForeignCountTool extends AgentTool<typeof parameters> {
  readonly name = 'count_words';
  readonly description = 'Counts the words of a text file.';
  readonly parameters = parameters;
  readonly repeatable = true;

  async execute({ path }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const sandbox = await context.sandbox();
    const { exitCode, stdout, stderr } = await sandbox.run('wc -w < "$FILE"', { env: { FILE: path } });
    if (exitCode !== 0) throw new Error(stderr.trim());
    return success({ words: Number(stdout) });
  }
}

/** Writes a file, counts its words with the foreign tool, and says how many. */
@Plugin(ModelProvider, 'counter')
export class CounterModel extends ModelProvider {
  list(): ModelInfo[] {
    return [
      {
        id: 'counter',
        name: 'Counter',
        description: 'Counts the words of what it is told.',
        efforts: [],
        defaultEffort: null,
        input: ['text'],
        contextWindow: null,
        status: 'available',
      },
    ];
  }

  async *stream({ messages }: ModelRequest): AsyncIterable<ModelPart> {
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
    const results = messages.flatMap(({ invocations }) => invocations.map(({ result }) => result));
    const told = messages[0]?.parts.find((part) => part.type === 'text')?.text ?? '';
    const counting = [
      { name: 'write', input: { path: 'told.txt', content: told } },
      { name: 'count_words', input: { path: 'told.txt' } },
    ];
    const calls = told === 'For whom?' ? [{ name: 'who_for', input: {} }] : counting;
    const call = calls[results.length];
    if (call === undefined) {
      yield { type: 'text', text: `Counted: ${JSON.stringify(results.at(-1))}`, end: true };
      yield { type: 'finish', reason: 'stop', usage };
    } else {
      await Promise.resolve();
      yield { type: 'tool_call', toolCallId: `c${results.length}`, name: call.name, input: JSON.stringify(call.input) };
      yield { type: 'finish', reason: 'tool_calls', usage };
    }
  }
}

const noteSchema = named('ForeignNote', z.strictObject({ text: z.string(), by: z.string() }));

class NoteDto {
  @IsString()
  text: string;
}

const NAME = sql`SELECT name FROM users WHERE id = ${uuid('id')}`.rows<{ name: string }>();

@Controller('v1/notes')
export class NotesController {
  @Get()
  @Endpoint({
    summary: 'Read where notes go',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: z.strictObject({ workspace: z.string() }),
  })
  read(@Auth() auth: AuthContext) {
    return { workspace: auth.workspace.slug };
  }

  @Post()
  @Endpoint({
    summary: 'Write a note',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    idempotency: 'optional',
    answer: z.strictObject({ note: noteSchema }),
  })
  async write(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: NoteDto) {
    const [row] = await tx.run(NAME({ id: auth.userId }));
    return { note: { text: body.text, by: row?.name ?? '' } satisfies z.output<typeof noteSchema> };
  }
}

@Module({ controllers: [NotesController], providers: [ForeignCountTool, CounterModel, WhoForTool] })
class ForeignModule {}

export const FOREIGN = defineExtension({ name: 'foreign', module: ForeignModule });
