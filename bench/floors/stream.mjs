/** The message that an OpenAI-compatible server streams. */
export async function answerOf(response) {
  const message = { role: 'assistant', content: '', tool_calls: [] };
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = events.pop();
    for (const event of events) if (event !== 'data: [DONE]') add(message, JSON.parse(event.slice('data: '.length)));
  }
  if (message.tool_calls.length === 0) delete message.tool_calls;
  return message;
}

function add(message, { choices: [choice] }) {
  message.content += choice?.delta.content ?? '';
  for (const { index, id, function: given } of choice?.delta.tool_calls ?? []) {
    const call = (message.tool_calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
    call.function.name += given.name ?? '';
    call.function.arguments += given.arguments ?? '';
  }
}
