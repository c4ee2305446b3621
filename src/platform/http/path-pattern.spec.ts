import { pathPattern } from './path-pattern.js';

describe('pathPattern', () => {
  it.each([
    ['/v1/tasks', '/v1/tasks', true],
    ['/v1/tasks', '/v1/tasks/', false],
    ['/v1/tasks', '/v1', false],
    ['/v1/tasks/:id', '/v1/tasks/1', true],
    ['/v1/tasks/:id', '/v1/tasks/', false],
    ['/v1/tasks/:id', '/v1/tasks', false],
    ['/v1/tasks/:id', '/v1/tasks/1/files', false],
    ['/v1/tasks/:id/files', '/v1/tasks/1/files', true],
    ['/docs/*path', '/docs/a/b', true],
    ['/docs/*path', '/other/a', false],
    ['/', '/', true],
    ['/', '/a', false],
  ])('%s takes %s: %s', (declared, path, takes) => {
    expect(pathPattern(declared)(path)).toBe(takes);
  });
});
