import { createTwoFilesPatch } from 'diff/lib/patch/create.js';
import type { Agent, AgentVersion } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Diff, usePatch } from '../../ui/diff.tsx';
import { form as parts } from '../../ui/form.tsx';
import { type definitionOf, wordsOf } from './draft.ts';

type Shown = Agent | AgentVersion | ReturnType<typeof definitionOf>;

/** What of an agent is another: its instructions and its settings, line by line. */
export default function Difference({ from, to, none }: { from: Shown; to: Shown; none: string }) {
  const [before, after] = [wordsOf(from), wordsOf(to)];
  const patch = (name: string, one: string, other: string) =>
    one === other ? '' : createTwoFilesPatch(name, name, one, other, undefined, undefined, { context: 3 });
  const files = usePatch(
    patch(t.agents.instructions, before.instructions, after.instructions) +
      patch(t.agents.what, before.settings, after.settings),
  );
  if (files === null) return <p className={parts.hint}>{none}</p>;
  return <Diff files={files} layout="unified" idPrefix="agent" />;
}
