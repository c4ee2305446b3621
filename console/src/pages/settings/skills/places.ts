// Where skills stand in the console.
export const LIST = '/settings?part=skills';
/** `version`: an older one; without it the newest. */
export const hrefOf = (name: string, version?: number): string =>
  `${LIST}&skill=${encodeURIComponent(name)}${version === undefined ? '' : `&version=${version}`}`;
