import { Module } from '@nestjs/common';
import { AgentTool, defineExtension, Plugin, success, type ToolContext, type ToolOutcome } from 'millwright';
import { z } from 'zod';

const parameters = z.strictObject({ path: z.string().describe('A file of the workdir.') });

@Plugin(AgentTool, 'count_words')
export class CountWordsTool extends AgentTool<typeof parameters> {
  readonly name = 'count_words';
  readonly description = 'Counts the words of a text file. Use it for limits such as "at most 500 words".';
  readonly parameters = parameters;
  // It only reads: after a crash it may simply be run again.
  readonly repeatable = true;
  // And nobody needs to approve it.
  override readonly changes = false;

  async execute({ path }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const sandbox = await context.sandbox();
    // Not in the command itself: a path is text of the model, and a shell would read it as code.
    const { exitCode, stdout, stderr } = await sandbox.run('wc -w < "$FILE"', { env: { FILE: path } });
    if (exitCode !== 0) throw new Error(stderr.trim() || `wc ended with ${exitCode}.`);
    return success({ words: Number(stdout) });
  }
}

@Module({ providers: [CountWordsTool] })
class CountWordsModule {}

export const COUNT_WORDS = defineExtension({ name: 'count-words', module: CountWordsModule });
