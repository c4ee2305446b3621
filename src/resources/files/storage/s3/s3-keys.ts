import { isUuid } from '../../../../platform/database/ids.js';
import type { StoredBytes } from '../storage-driver.js';

/** Below the prefix of a bucket: `files/<workspace>/<first two digits>/<sha256>`, as on a disk. */
export class Keys {
  readonly root: string;

  constructor(prefix: string) {
    this.root = `${prefix}files/`;
  }

  of({ workspaceId, sha256 }: StoredBytes): string {
    return `${this.ofWorkspace(workspaceId)}${sha256.slice(0, 2)}/${sha256}`;
  }

  ofWorkspace(workspaceId: string): string {
    return `${this.root}${workspaceId}/`;
  }

  /** What a key names; undefined for an object that is none of ours. */
  read(key: string): (StoredBytes & { isSign: boolean }) | undefined {
    const [, workspaceId = '', sha256, sign] = KEY.exec(key.slice(this.root.length)) ?? [];
    if (sha256 === undefined || !isUuid(workspaceId)) return undefined;
    return { workspaceId, sha256, isSign: sign !== undefined };
  }
}

const KEY = /^([^/]+)\/[0-9a-f]{2}\/([0-9a-f]{64})(\.leaving)?$/;

/** An empty object that stands beside bytes while they are removed (decision 0094). */
export const signOf = (key: string): string => `${key}.leaving`;
