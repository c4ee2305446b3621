/** The dialog that makes a fork of a task. */
export const fork = {
  title: (turn: number) => `Fork from turn ${turn}`,
  text: 'A new task with the conversation, the files and the folder as this turn left them. This task stays as it is.',
  message: 'Next message',
  messageHint: 'Optional. Without one the new task waits for its first message.',
  name: 'Title',
  nameHint: 'Optional. Without one it is that of this task.',
  action: 'Fork',
  gone: 'The folder of this turn is not kept any more, or never was, so there is nothing to fork from. The tab “Folder” lists the turns that have one.',
};
