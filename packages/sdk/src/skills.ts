import type { List } from './list.js';
import { Collection, type UploadOptions } from './resources.js';
import type { CallOptions } from './transport.js';
import type { ChangeSkill, Skill, SkillVersion } from './types.js';

/** Know-how of a workspace that agents read when a task is of its kind (reference §27.4). */
export class Skills extends Collection {
  protected readonly root = '/v1/skills';

  /** A zip with a `SKILL.md`: a skill, or the next version of the one with its name. The zip that it has already makes none. */
  push(zip: Blob, options: UploadOptions = {}): Promise<Skill> {
    return this.upload(this.root, 'skill', zip, options);
  }
  get(id: string, options?: CallOptions): Promise<Skill> {
    return this.one('skill', { method: 'GET', path: this.path(id), ...options });
  }
  /** `default`: whether tasks have it that name no skills. */
  update(id: string, body: ChangeSkill, options?: CallOptions): Promise<Skill> {
    return this.one('skill', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  /** Newest first. */
  list(query?: { limit?: number }, options?: CallOptions): List<Skill> {
    return this.all(this.root, 'skills', query, options);
  }
  /** Newest first. */
  versions(id: string, query?: { limit?: number }, options?: CallOptions): List<SkillVersion> {
    return this.all(this.path(id, '/versions'), 'versions', query, options);
  }
  /** The zip of a version, without one of the newest. Resolves with the head of the answer; `body` streams. */
  content(id: string, query: { version?: number } = {}, options?: CallOptions): Promise<Response> {
    return this.transport.response({ method: 'GET', path: this.path(id, '/content'), query, ...options });
  }
}
