import { APICallError } from '@ai-sdk/provider';
import { toModelError } from './ai-sdk-errors.js';

const refused = (message: string) =>
  toModelError(new APICallError({ message, url: '', requestBodyValues: {}, statusCode: 400 })).message;

it.each([
  ["This model's maximum context length is 8192 tokens.", /longer than the model can read/],
  ['prompt is too long: 210000 tokens > 200000 maximum', /longer than the model can read/],
  ['The request exceeds the maximum number of input tokens.', /longer than the model can read/],
  ['Unknown parameter.', /answered 400/],
])('tells from "%s" whether the conversation is too long', (message, expected) => {
  expect(refused(message)).toMatch(expected);
});

it('reads an error of any length', async () => {
  expect(refused('maximum '.repeat(100_000))).toMatch(/answered 400/);
  // Jest gives up a test only when it waits: after what took too long.
  await new Promise((resolve) => setTimeout(resolve));
});
