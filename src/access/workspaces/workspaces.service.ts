import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { OperatorError } from '../auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { newId } from '../../platform/database/ids.js';

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  plan: Plan;
  /** The kinds of message parts that are exposed; null: as the deployment has it (reference §6). */
  transparency: string[] | null;
  createdAt: Date;
}

const COLUMNS = 'id, slug, name, plan, transparency, created_at AS "createdAt"';
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Workspaces: the tenants. */
@Injectable()
export class WorkspacesService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /** @param input without a slug it is made from the name, without a plan it is `DEFAULT_PLAN`. Throws {@link OperatorError}. */
  async create(input: { name: string; slug?: string | undefined; plan?: Plan | undefined }): Promise<Workspace> {
    const name = input.name.trim();
    if (name === '' || name.length > 200) throw new OperatorError('A workspace name has 1 to 200 characters.');
    const slug = input.slug ?? slugOf(name);
    if (!SLUG.test(slug)) {
      throw new OperatorError(
        `'${slug}' is no slug: 1 to 63 small letters, digits and hyphens are expected; give --slug.`,
      );
    }
    const [made] = await this.dataSource.query<Workspace[]>(
      `INSERT INTO workspaces (id, slug, name, plan) VALUES ($1, $2, $3, $4)
       ON CONFLICT (slug) DO NOTHING RETURNING ${COLUMNS}`,
      [newId(), slug, name, input.plan ?? this.env.variables.DEFAULT_PLAN],
    );
    if (made === undefined) throw new OperatorError(`The slug '${slug}' is taken; give another with --slug.`);
    return made;
  }

  list(): Promise<Workspace[]> {
    return this.dataSource.query(`SELECT ${COLUMNS} FROM workspaces ORDER BY created_at, id`);
  }

  /** By slug. Throws {@link OperatorError}. */
  async get(slug: string): Promise<Workspace> {
    const [found] = await this.dataSource.query<Workspace[]>(`SELECT ${COLUMNS} FROM workspaces WHERE slug = $1`, [
      slug,
    ]);
    if (found === undefined) throw new OperatorError(`There is no workspace '${slug}'; 'workspace list' shows all.`);
    return found;
  }

  /** Sets the transparency policy, history included, from the next request on. @param kinds null for the deployment's own. */
  async expose(id: string, kinds: readonly string[] | null): Promise<Workspace> {
    const [[changed]] = await this.dataSource.query<[Workspace[], number]>(
      `UPDATE workspaces SET transparency = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, kinds],
    );
    if (changed === undefined) throw new OperatorError('The workspace was deleted at the same moment.');
    return changed;
  }
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}
