// All texts of the console, by page. Sentences with values are functions; numbers and dates are formatted by `ui/format.ts`.
import { attachments } from './attachments.ts';
import { automationEditor, automations } from './automations.ts';
import { chart } from './chart.ts';
import { common } from './common.ts';
import { cron } from './cron.ts';
import { form } from './form.ts';
import { integrations } from './integrations.ts';
import { login } from './login.ts';
import { newTask } from './new-task.ts';
import { notifications } from './notifications.ts';
import { palette } from './palette.ts';
import { projects } from './projects.ts';
import { reading } from './reading.ts';
import { records } from './records.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { shortcuts } from './shortcuts.ts';
import { task } from './task.ts';
import { tasks } from './tasks.ts';
import { usage } from './usage.ts';
import { webhooks } from './webhooks.ts';

export const t = {
  attachments,
  automationEditor,
  automations,
  chart,
  common,
  cron,
  form,
  integrations,
  login,
  newTask,
  notifications,
  palette,
  projects,
  reading,
  records,
  settings,
  shell,
  shortcuts,
  task,
  tasks,
  usage,
  webhooks,
};
