/**
 * Tools of the service whose calls leave nothing in the folder of a task. Of all others it is taken that they may: of `bash_output` too, for the command
 * that it waits for has written meanwhile.
 */
export const TRACELESS = ['ask', 'glob', 'grep', 'publish', 'read', 'todo', 'use_secret', 'web_fetch'];
