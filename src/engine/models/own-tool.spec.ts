import { ownTool } from './own-tool.js';

it.each([
  ['mcp__millwright__ask', 'ask'],
  ['millwright_ask', 'ask'],
  ['mcp__millwright__mcp__docs__search', 'mcp__docs__search'],
  ['mcp__docs__search', null],
  ['ask', null],
  ['my_millwright_ask', null],
])('%s of a program is the tool %s of the door', (name, tool) => {
  expect(ownTool(name)).toBe(tool);
});
