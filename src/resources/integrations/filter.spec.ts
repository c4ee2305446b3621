import { checkFilter, FilterError } from './filter.js';

describe('A filter, when it is written (contract §12)', () => {
  it.each([
    `action == 'opened'`,
    `pull_request.base.ref == 'main' && !(pull_request.draft)`,
    `contains(labels[*].name, 'bug') || length(commits[?contains(message, 'fix')]) > \`0\``,
    `let $ref = ref in starts_with($ref, 'refs/heads/')`,
    '`{"type":"Function","name":"nothing"}`',
    Array(60).fill(`a == 'b'`).join(' || '),
    `"${'x'.repeat(998)}"`,
  ])('is taken: %s', (filter) => {
    expect(() => checkFilter(filter)).not.toThrow();
  });

  it.each([
    ['', 'The filter is not valid JMESPath. Syntax error: invalid token'],
    ['a ==', 'The filter is not valid JMESPath. Syntax error'],
    ['a b', 'The filter is not valid JMESPath. Syntax error'],
    ['$.a[?(@.b > 1)]', 'The filter is not valid JMESPath.'],
    ['x'.repeat(1_001), 'The filter has more than 1,000 characters.'],
    [`${'!'.repeat(200)}a`, 'The filter is nested deeper than 100 levels.'],
    ['['.repeat(500) + 'a' + ']'.repeat(499), 'The filter is n'],
    ['nothing(@)', `The filter calls 'nothing', which is not a function of JMESPath.`],
    ['a && [{b: constructor(@)}]', `The filter calls 'constructor', which is not a function of JMESPath.`],
    ['a || map(&to_string([@]), b)', `The filter calls 'to_string'. A filter must not make texts: join, pad_left,`],
  ])('is refused: %s', (filter, message) => {
    expect(() => checkFilter(filter)).toThrow(message);
    expect(() => checkFilter(filter)).toThrow(FilterError);
  });

  it('is refused with a sentence, whatever it is', () => {
    for (const part of ['(', '[', '{a:', '!', '&', 'a.', '`', "'", '"', '[?', 'a||', 'length(', '[*', '-', 'let $a=']) {
      for (const times of [1, 7, 200]) {
        try {
          checkFilter(part.repeat(times));
        } catch (error) {
          expect(error).toMatchObject({
            name: 'FilterError',
            message: expect.stringMatching(/^The filter .*[.!?…]$/s),
          });
        }
      }
    }
  });
});
