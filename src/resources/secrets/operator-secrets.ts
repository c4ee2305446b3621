// What the operator command does with the secrets of a workspace (reference §16, §24): by the rules of requests, and with no rights of a caller.
import { Injectable } from '@nestjs/common';
import { recordOperator } from '../../access/audit/record.js';
import { forOperator, OperatorError } from '../../access/auth/operator-error.js';
import { Sealing } from '../../platform/config/sealing.js';
import { newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { FieldsPipe } from '../../platform/http/fields.pipe.js';
import { Notices } from '../../platform/notices/notices.js';
import { BindingRules } from './binding-rules.js';
import {
  COUNT_IN_WORKSPACE,
  FIRST_OWNER,
  HOLDER_OF,
  LIST_IN_WORKSPACE,
  LOCK_IN_WORKSPACE,
  LOCK_NAMED,
} from './operator-secrets.sql.js';
import { ChangeSecretDto, CreateSecretDto } from './secret.dto.js';
import { ownerOfValue, Secret } from './secret.entity.js';
import type { SecretRow } from './secrets.sql.js';
import { checkVariable, MOST, takenVariable, tooMany } from './secrets.service.js';

/** What an operator gives. It is checked as the body of a request. */
export interface GivenSecret {
  name: string;
  value: string;
  /** None: one that is there keeps its own. */
  bindings: readonly object[];
  env?: string;
  description?: string;
}

/** Everything here throws {@link OperatorError}. */
@Injectable()
export class OperatorSecrets {
  private readonly fields = new FieldsPipe();

  constructor(
    private readonly transactions: Transactions,
    private readonly sealing: Sealing,
    private readonly bindings: BindingRules,
    private readonly notices: Notices,
  ) {}

  /** Of the workspace, its projects and its users, by name. Never with a value. */
  list(workspaceId: string): Promise<SecretRow[]> {
    return this.transactions.run(LIST_IN_WORKSPACE({ workspaceId }));
  }

  /** Makes one of the workspace in the name of its first owner, or changes the one of this name. */
  async set(workspaceId: string, { bindings, ...given }: GivenSecret): Promise<SecretRow> {
    const body = { ...given, ...(bindings.length > 0 && { bindings }) };
    return forOperator(
      this.transactions.open(async (tx) => {
        await tx.run(LOCK_IN_WORKSPACE({ workspaceId }));
        const [before] = await tx.run(LOCK_NAMED({ workspaceId, name: given.name }));
        if (before === undefined) await this.create(tx, workspaceId, body);
        else await this.change(tx, workspaceId, before, body);
        const [row] = await tx.run(LOCK_NAMED({ workspaceId, name: given.name }));
        if (row === undefined) throw new Error('The secret was not written.');
        return row;
      }),
    );
  }

  /** Of the workspace. Tasks that run lose it with their next request. Resolves with its id. */
  remove(workspaceId: string, name: string): Promise<string> {
    return this.transactions.open(async (tx) => {
      const [before] = await tx.run(LOCK_NAMED({ workspaceId, name }));
      if (before === undefined)
        throw new OperatorError(`The workspace has no secret ${name}; 'secret list' shows them.`);
      await tx.manager.getRepository(Secret).delete({ id: before.id });
      await this.tell(tx, workspaceId, 'secret.delete', before.id);
      return before.id;
    });
  }

  private async create(tx: UnitOfWork, workspaceId: string, body: object): Promise<void> {
    const given = (await this.fields.transform(body, { type: 'body', metatype: CreateSecretDto })) as CreateSecretDto;
    const { name, env = name, description = null } = given;
    await this.checkVariable(tx, workspaceId, name, env);
    const bindings = this.bindings.checked(given.bindings);
    const [{ count } = { count: 0 }] = await tx.run(COUNT_IN_WORKSPACE({ workspaceId }));
    if (count >= MOST) throw tooMany();
    const [owner] = await tx.run(FIRST_OWNER({ workspaceId }));
    if (owner === undefined)
      throw new OperatorError('The workspace has neither an owner nor an admin: add one first (member add).');
    const id = newId();
    const value = this.sealing.seal(ownerOfValue(id), given.value);
    const fields = { id, workspaceId, scope: 'workspace' as const, name, description, env, bindings, value };
    await tx.manager.getRepository(Secret).insert({ ...fields, createdBy: owner.id });
    await this.tell(tx, workspaceId, 'secret.create', id);
  }

  private async change(
    tx: UnitOfWork,
    workspaceId: string,
    { id, name, version }: SecretRow,
    body: object,
  ): Promise<void> {
    const given = (await this.fields.transform(body, { type: 'body', metatype: ChangeSecretDto })) as ChangeSecretDto;
    const { value = '', bindings, env, description } = given;
    if (env !== undefined) await this.checkVariable(tx, workspaceId, name, env);
    const fields = {
      value: this.sealing.seal(ownerOfValue(id), value),
      version: version + 1,
      ...(bindings !== undefined && { bindings: this.bindings.checked(bindings) }),
      ...(env !== undefined && { env }),
      ...(description !== undefined && { description }),
    };
    await tx.manager.getRepository(Secret).update({ id }, { ...fields, updatedAt: () => 'now()' });
    await this.tell(tx, workspaceId, 'secret.update', id);
  }

  private async checkVariable(tx: UnitOfWork, workspaceId: string, name: string, env: string): Promise<void> {
    checkVariable(env);
    const [holder] = await tx.run(HOLDER_OF({ workspaceId, env, name }));
    if (holder !== undefined) throw takenVariable('The workspace has', holder.name, env);
  }

  private async tell(tx: UnitOfWork, workspaceId: string, action: string, id: string): Promise<void> {
    await recordOperator(tx, workspaceId, action, { type: 'secret', id });
    tx.afterCommit(() => this.notices.send({ secrets: workspaceId }));
  }
}
