// The version of this program, and of Node that it needs: both stand in package.json and nowhere else.
import { readFileSync } from 'node:fs';

const about = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
  engines: { node: string };
};

/** Of Millwright, such as `0.1.0`. */
export const VERSION = about.version;
/** The range of Node's versions, such as `>=20.19.0`. */
export const NODE_RANGE = about.engines.node;
