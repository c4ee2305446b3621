import { Controller, Module, Param, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { jest } from '@jest/globals';
import { Auth, type AuthContext, Endpoint, Tx, type UnitOfWork, Workspace } from 'millwright';
import type { Repository } from 'typeorm';
import { z } from 'zod';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';

@Controller('v1/names')
class NamesController {
  constructor(@InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>) {}

  @Post(':how')
  @Endpoint({
    summary: 'Name the workspace',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: z.strictObject({ names: z.int() }),
  })
  async rename(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('how') how: string) {
    const workspaces = how === 'injected' ? this.workspaces : tx.manager.getRepository(Workspace);
    await workspaces.update({ id: auth.workspaceId }, { name: how });
    tx.afterCommit(() => void this.workspaces.count());
    return { names: await workspaces.countBy({ name: how }) };
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Workspace])], controllers: [NamesController] })
class NamesModule {}

describe('A repository in a writing route', () => {
  const service = useService(() => bootApp({ imports: [NamesModule] }));
  let member: Member;
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const name = async () => {
    const rows = await service.db.query<{ name: string }>('SELECT name FROM workspaces WHERE id = $1', [
      member.workspace.id,
    ]);
    return rows[0]?.name;
  };

  it('is of the transaction; after the commit any will do', async () => {
    const said = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    expect((await member.client.post('/v1/names/own')).body).toEqual({ names: 1 });
    expect([await name(), said.mock.calls]).toEqual(['own', []]);
    said.mockRestore();
  });

  it('that was injected is refused in tests, with the reason', async () => {
    const said = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { status, body } = await member.client.post<ErrorBody>('/v1/names/injected');
    expect([status, body.error.code]).toEqual([500, 'internal_error']);
    expect(said.mock.calls.flat().join()).toContain('tx.manager.getRepository');
    expect(await name()).not.toBe('injected');
    said.mockRestore();
  });
});
