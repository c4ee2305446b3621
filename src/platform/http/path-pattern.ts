/**
 * Makes a test for the paths of a declared route: `:name` stands for one segment, `*name` for the rest. It tells 404 from 405
 * for requests that no route took.
 */
export function pathPattern(declared: string): (path: string) => boolean {
  const wanted = declared.split('/');
  return (path) => {
    const given = path.split('/');
    for (const [i, segment] of wanted.entries()) {
      if (segment.startsWith('*') || segment.startsWith('{*')) return true;
      const value = given[i];
      if (value === undefined || (segment.startsWith(':') ? value === '' : segment !== value)) return false;
    }
    return given.length === wanted.length;
  };
}
