/** Tools of the service whose calls leave nothing in the folder of a task. Of all others it is taken that they may. */
export const TRACELESS = ['ask', 'glob', 'grep', 'publish', 'read', 'todo', 'use_secret', 'web_fetch'];
