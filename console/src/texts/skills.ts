import { count } from '../ui/format.ts';

/** Skills, in the settings. */
export const skills = {
  title: 'Skills',
  about:
    'Know-how for agents: folders with a SKILL.md. An agent is told of each by name and description, and reads the rest when a task is of its kind. Choose them for an agent, a task or an automation, or give them to all tasks.',
  add: 'Upload a zip',
  adding: 'Uploading …',
  added: (name: string, version: number) => `${name} is version ${version} now.`,
  zip: 'Zip of a skill',
  none: 'There is no skill yet',
  noneText:
    'Zip a folder with a SKILL.md like the one below, and upload it; or run mw skill push FOLDER. Scripts and examples may lie beside it.',
  example: `---
name: release-notes
description: How we write the notes of a release. Use it when a version is tagged.
---

1. Read the commits since the last tag.
2. Group them: new, mended, changed.
`,
  noneReadOnly: 'When somebody with the scope projects:write uploads one, it stands here.',
  readOnly: 'This session only looks at this: it lacks the scope projects:write, or is a viewer’s.',
  version: (n: number) => `version ${n}`,
  isDefault: 'in all tasks',
  holds: (files: number, size: string) => `${count(files)} ${files === 1 ? 'file' : 'files'}, ${size}`,
  changed: 'changed',

  // One of them.
  makeDefault: 'Give it to all tasks',
  makeDefaultHint: 'Tasks and automations have it that name no skills. Owners and admins decide this.',
  remove: 'Delete',
  removeTitle: (name: string) => `Delete ${name}?`,
  removeText: 'All of its versions go for good. Tasks that have it go on without it.',
  removed: (name: string) => `${name} is deleted.`,
  shown: 'Version',
  versionOf: (version: number, by: string, when: string) => `${version} · ${by}, ${when}`,
  older: (version: number, newest: number) => `This is version ${version}. The newest is version ${newest}.`,
  toNewest: 'Show the newest',
  what: 'What it is',
  description: 'Description',
  size: 'Size',
  sha256: 'SHA-256',
  contents: 'What lies in it',
  download: 'Download the zip',
  unread: 'The zip cannot be shown here; download it.',
};
