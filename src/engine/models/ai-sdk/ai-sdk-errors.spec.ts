import { APICallError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
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

it.each<[number, string, string]>([
  [401, '', 'model_credentials'],
  [403, 'Your key is not authorized for this model', 'model_credentials'],
  [403, 'Your input was flagged by moderation', 'model_error'],
  [400, '{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}', 'model_credentials'],
  [404, '', 'model_gone'],
  [400, '{"error":{"code":"model_not_found"}}', 'model_gone'],
  [402, '', 'model_quota'],
  [400, '{"error":{"message":"Your credit balance is too low to access the Anthropic API."}}', 'model_quota'],
  [429, '{"error":{"code":"insufficient_quota"}}', 'model_quota'],
  [429, '{"error":{"type":"exceeded_current_quota_error"}}', 'model_quota'],
  [429, '{"error":{"code":"rate_limit_exceeded"}}', 'model_overloaded'],
  [502, '', 'model_overloaded'],
  [503, '', 'model_overloaded'],
  [529, '', 'model_overloaded'],
  [500, '', 'model_error'],
  [400, '{"error":{"message":"Unknown parameter"}}', 'model_error'],
])('%i %s is %s', (statusCode, responseBody, code) => {
  const error = new APICallError({ message: 'x', url: '', requestBodyValues: {}, statusCode, responseBody });
  expect(toModelError(error).code).toBe(code);
});

it('reads an error of any length', async () => {
  expect(refused('maximum '.repeat(100_000))).toMatch(/answered 400/);
  // Jest gives up a test only when it waits: after what took too long.
  await new Promise((resolve) => setTimeout(resolve));
});

it('a request that its package cannot put into words is refused, and not tried again', () => {
  const error = toModelError(new UnsupportedFunctionalityError({ functionality: 'file part media type image/tiff' }));
  expect(error).toMatchObject({
    retryable: false,
    code: 'model_error',
    message: expect.stringMatching(/no request like/),
  });
});
