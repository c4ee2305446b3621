/** Characters of the body of an error: some servers send a page, or do not end. */
const ERROR_LENGTH = 64 * 1024;

/** A redirect ends the call: after a 307 `fetch` would send the conversation to an address that nobody configured. */
export const carefully: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (response.ok) return response;
  const text = await beginningOf(response);
  init?.signal?.throwIfAborted();
  return new Response(text === '' ? null : text, response);
};

/** Of a body that breaks off what has come: the status says the most. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length >= ERROR_LENGTH) break;
    }
  } catch {
    return text;
  }
  return text.slice(0, ERROR_LENGTH);
}
