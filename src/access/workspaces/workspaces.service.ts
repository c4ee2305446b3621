import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { recordOperator } from '../audit/record.js';
import { nameOf, OperatorError } from '../auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Workspace } from './workspace.entity.js';

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Workspaces: the tenants. */
@Injectable()
export class WorkspacesService {
  constructor(
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** @param input without a slug it is made from the name, without a plan it is `DEFAULT_PLAN`. Throws {@link OperatorError}. */
  async create(input: { name: string; slug?: string | undefined; plan?: Plan | undefined }): Promise<Workspace> {
    const name = nameOf(input.name, 'A workspace name');
    const slug = input.slug ?? slugOf(name);
    if (!SLUG.test(slug)) {
      throw new OperatorError(
        `'${slug}' is no slug: 1 to 63 small letters, digits and hyphens are expected; give --slug.`,
      );
    }
    const plan = input.plan ?? this.env.variables.DEFAULT_PLAN;
    return this.transactions.open(async (tx) => {
      const workspaces = tx.manager.getRepository(Workspace);
      const id = newId();
      await workspaces.createQueryBuilder().insert().values({ id, slug, name, plan }).orIgnore().execute();
      const made = await workspaces.findOneBy({ id });
      if (made === null) throw new OperatorError(`The slug '${slug}' is taken; give another with --slug.`);
      await recordOperator(tx, id, 'workspace.create', { type: 'workspace', id });
      return made;
    });
  }

  list(): Promise<Workspace[]> {
    return this.workspaces.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** By slug. Throws {@link OperatorError}. */
  async get(slug: string): Promise<Workspace> {
    const found = await this.workspaces.findOneBy({ slug });
    if (found === null) throw new OperatorError(`There is no workspace '${slug}'; 'workspace list' shows all.`);
    return found;
  }

  /** Sets the transparency policy, history included, from the next request on. @param kinds null for the deployment's own. */
  async expose(id: string, kinds: readonly string[] | null): Promise<Workspace> {
    return this.transactions.open(async (tx) => {
      const workspaces = tx.manager.getRepository(Workspace);
      await workspaces.update({ id }, { transparency: kinds === null ? null : [...kinds] });
      const changed = await workspaces.findOneBy({ id });
      if (changed === null) throw new OperatorError('The workspace was deleted at the same moment.');
      await recordOperator(tx, id, 'workspace.policy', { type: 'workspace', id });
      return changed;
    });
  }
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}
