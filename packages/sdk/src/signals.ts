// Times and ends. `AbortSignal.any` is avoided: on a signal that lives long its listeners pile up.

/** A signal that ends with another one, or when {@link Limited.expire} is due; `done` lets go of both. */
export interface Limited {
  signal: AbortSignal;
  /** Ends it after so many milliseconds from now, in place of what was said before. */
  expire(ms: number, reason: () => Error): void;
  end(reason: unknown): void;
  done(): void;
}

export function limited(outer: AbortSignal | undefined): Limited {
  const own = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = () => own.abort(outer?.reason);
  if (outer?.aborted === true) follow();
  outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    expire(ms, reason) {
      clearTimeout(timer);
      timer = setTimeout(() => own.abort(reason()), ms);
    },
    end: (reason) => own.abort(reason),
    done() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}

/** Resolves after so many milliseconds; rejects with the signal's reason when that comes first. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** What a signal was ended with. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError');
}
