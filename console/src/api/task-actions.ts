// What a person does with one task.
import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { useRef } from 'react';
import { api, type ChangeTask, type Message, type Reply, type SendMessage, type Task } from './client.ts';
import { type Conversation, conversationQuery, queryClient, taskQuery } from './queries.ts';

/** What an answer says of the task is the newest that is known. */
function taken(task: Task): void {
  queryClient.setQueryData(taskQuery(task.id).queryKey, task);
  void queryClient.invalidateQueries({ queryKey: ['tasks'] });
}

const readAnew = (taskId: string) => queryClient.invalidateQueries({ queryKey: taskQuery(taskId).queryKey });

/**
 * The same key as long as the same is sent and no answer has come: what a lost answer has carried out is not done again. `forget` after
 * the answer: the same words may be meant once more.
 */
export function useKeyFor() {
  const last = useRef({ text: '', key: '' });
  return {
    keyFor: (body: unknown): { idempotencyKey: string } => {
      const text = JSON.stringify(body);
      if (last.current.text !== text)
        last.current = { text, key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
      return { idempotencyKey: last.current.key };
    },
    forget: (): void => void (last.current = { text: '', key: '' }),
  };
}

type Action<T = void, R = Task> = UseMutationResult<R, Error, T>;

/** `onSent` is called also when what has sent it is no longer on the page: the agent may ask something in between. */
export function useSend(
  taskId: string,
  onSent: (sent: SendMessage) => void,
): Action<SendMessage, { message: Message; task: Task }> {
  const { keyFor, forget } = useKeyFor();
  return useMutation({
    mutationFn: (body) => api.tasks.send(taskId, body, keyFor(body)),
    onSuccess: ({ message, task }, sent) => {
      forget();
      updateConversation(taskId, (messages) =>
        messages.some(({ id }) => id === message.id) ? messages : [...messages, message],
      );
      taken(task);
      onSent(sent);
    },
  });
}

export function useAnswer(taskId: string, interactionId: string): Action<Reply> {
  const { keyFor } = useKeyFor();
  return useMutation({
    mutationFn: (reply) => api.tasks.answer(taskId, { interactionId, ...reply }, keyFor(reply)),
    onSuccess: taken,
    // Somebody else may have answered: then what is shown is old.
    onError: () => readAnew(taskId),
  });
}

export function useWithdraw(taskId: string): Action<string, unknown> {
  return useMutation({
    mutationFn: (messageId) => api.tasks.withdraw(taskId, messageId),
    onSuccess: (_, messageId) =>
      updateConversation(taskId, (messages) => messages.filter(({ id }) => id !== messageId)),
    onSettled: () => readAnew(taskId),
  });
}

export function useCancel(taskId: string): Action {
  return useMutation({ mutationFn: () => api.tasks.cancel(taskId), onSuccess: taken });
}

/** Pauses the task, or resumes one that is paused or waits for what blocks it. */
export function usePause(taskId: string): Action<'pause' | 'resume'> {
  return useMutation({ mutationFn: (verb) => api.tasks[verb](taskId), onSuccess: taken });
}

/** Until a time, as an instant. A task that is paused already goes on then. */
export function usePauseUntil(taskId: string): Action<string> {
  return useMutation({ mutationFn: (resumeAt) => api.tasks.pause(taskId, { resumeAt }), onSuccess: taken });
}

/** Of a final task, without its agent. */
export function useRunChecks(taskId: string): Action {
  return useMutation({
    mutationFn: () => api.tasks.runChecks(taskId),
    onSuccess: taken,
    // Somebody else may have begun.
    onError: () => readAnew(taskId),
  });
}

export function useStopCommand(taskId: string): Action<string, unknown> {
  return useMutation({
    mutationFn: (commandId) => api.tasks.stopCommand(taskId, commandId),
    // It may have ended by itself; the list says so.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['commands', taskId] }),
  });
}

export function useChange(taskId: string): Action<ChangeTask> {
  return useMutation({ mutationFn: (change) => api.tasks.update(taskId, change), onSuccess: taken });
}

/** `onRemoved` is called also when the page already says that the task is gone. */
export function useRemove(taskId: string, onRemoved: () => void): Action<void, unknown> {
  return useMutation({
    mutationFn: () => api.tasks.delete(taskId),
    onSuccess: () => {
      onRemoved();
      void queryClient.invalidateQueries({ queryKey: ['tasks'] });
    },
  });
}

function updateConversation(taskId: string, change: (messages: Message[]) => Message[]): void {
  const { queryKey } = conversationQuery(taskId);
  queryClient.setQueryData<Conversation>(queryKey, (known) => known && { ...known, messages: change(known.messages) });
}
