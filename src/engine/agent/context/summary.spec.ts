import { user } from '../../../../test/harness/agent.js';
import type { ConversationMessage } from '../../models/conversation.js';
import { summaryText } from './summary.js';

const LIMITS = { people: 2_000, notes: 2_000, plan: 500, surroundings: 400 };
const told = (text: string): ConversationMessage => ({ ...user('Do it.'), parts: [{ type: 'surroundings', text }] });

describe('What stands for the beginning of a conversation (reference §15)', () => {
  const read = (name: string): ConversationMessage => {
    const one = { toolCallId: name, name: 'read', input: { path: `/skills/${name}/SKILL.md` }, stage: null };
    const invocations = [{ ...one, result: { status: 'success' as const, output: 'Steps.' } }];
    return { id: name, role: 'assistant', parts: [], invocations };
  };

  it('names the skills that were read, each with its file (reference §27)', () => {
    const text = summaryText([user('Do it.'), read('release-notes'), read('review'), read('review')], 'Notes.', LIMITS);
    expect(text).toContain(
      '# Skills that you have read\n\nRead one again before you go on with what it is for.\n- /skills/release-notes/SKILL.md\n- /skills/review/SKILL.md',
    );
    expect(summaryText([user('Do it.')], 'Notes.', LIMITS)).not.toContain('kills');
  });

  it('says that there are skills where their list is cut off', () => {
    const list = `<surroundings>\n<owner_notes file="/skills">\n${'- a: what it is for\n'.repeat(50)}</owner_notes>\n</surroundings>`;
    const text = summaryText([told(list)], '', LIMITS);
    expect(text).toContain('</owner_notes>\n[Cut here.');
    expect(text).toContain('\n[There are skills too: ls /skills]\n</surroundings>');
    const other = `<surroundings>\n${'a file\n'.repeat(200)}</surroundings>`;
    expect(summaryText([told(other)], '', LIMITS)).not.toContain('kills');
  });
});
