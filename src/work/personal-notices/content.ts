// What a notice says: its kind, the title of the task and a link to it. The question of the task only for those who have asked for it.
import type { NoticeKind } from '../../resources/personal-notices/personal-notice.entity.js';

/** Characters of a question that are sent. Push services take 4,096 bytes in all. */
const QUESTION_LENGTH = 600;

const SAID: Record<NoticeKind, string> = {
  needs_you: 'Needs you',
  finished: 'Finished',
  failed: 'Failed',
  test: 'Test',
};
const TEST_TITLE = 'Notices of Millwright arrive here';

export interface Content {
  kind: NoticeKind;
  taskId: string | null;
  /** One line. */
  title: string;
  /** Without PUBLIC_URL it begins with a slash. */
  link: string;
  /** Null unless it was asked for and there is one. */
  question: string | null;
}

interface Told {
  kind: NoticeKind;
  taskId: string | null;
  title: string | null;
  question: string | null;
}

/** @param origin `PUBLIC_URL`, or nothing. */
export function contentOf({ kind, taskId, title, question }: Told, origin: string): Content {
  const link = taskId === null ? `${origin}/console/` : `${origin}/console/tasks/${taskId}`;
  return {
    kind,
    taskId,
    title: oneLine(title ?? TEST_TITLE),
    link,
    question: question === null ? null : cut(question),
  };
}

/** For a list of messages, or the subject of an e-mail: `Needs you: Make it green`. */
export const headline = ({ kind, title }: Content): string => `${SAID[kind]}: ${title}`;

/** For people, as plain text. */
export function plainText(content: Content): string {
  const { question, link } = content;
  return [headline(content), ...(question === null ? [] : [question]), link].join('\n\n');
}

/** As Slack takes it, which makes mentions and links of `<…>`: nobody is called by the title of a task. */
export function slackText(content: Content): string {
  return plainText(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** No header, and no second line, can come out of a title. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

function cut(text: string): string {
  const characters = [...text];
  return characters.length <= QUESTION_LENGTH ? text : `${characters.slice(0, QUESTION_LENGTH - 1).join('')}…`;
}
