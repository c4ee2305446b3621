import { Controller, Get, Injectable, Module, Param, Post, type Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { jest } from '@jest/globals';
import { Auth, type AuthContext, defineExtension, Endpoint, Tx, type UnitOfWork, Workspace } from 'millwright';
import type { Repository } from 'typeorm';
import { z } from 'zod';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';

const answer = z.strictObject({ names: z.int() });
const contract = {
  summary: 'Name the workspace',
  policy: 'resource_write',
  scopes: ['tasks:write'],
  transaction: true,
  answer,
} as const;

@Injectable()
class Names {
  constructor(@InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>) {}

  async rename(auth: AuthContext, tx: UnitOfWork, how: string) {
    const workspaces = how === 'injected' ? this.workspaces : tx.manager.getRepository(Workspace);
    await workspaces.update({ id: auth.workspaceId }, { name: how });
    tx.afterCommit(() => void this.workspaces.count());
    return { names: await workspaces.countBy({ name: how }) };
  }
}

@Controller('v1/names')
class NamesController {
  constructor(private readonly names: Names) {}

  @Post(':how')
  @Endpoint(contract)
  rename(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('how') how: string) {
    return this.names.rename(auth, tx, how);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Workspace])], providers: [Names], controllers: [NamesController] })
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

  it('stops the boot where the controller has it, and does not in one that only reads', async () => {
    @Controller('v1/held')
    class HeldController {
      constructor(@InjectRepository(Workspace) readonly workspaces: Repository<Workspace>) {}

      @Post()
      @Endpoint(contract)
      rename() {
        return { names: 0 };
      }
    }
    @Controller('v1/held')
    class CountsController {
      constructor(@InjectRepository(Workspace) readonly workspaces: Repository<Workspace>) {}

      @Get()
      @Endpoint({ summary: 'Count', policy: 'resource_read', scopes: ['tasks:read'], answer })
      async count() {
        return { names: await this.workspaces.countBy({ name: 'nobody' }) };
      }
    }
    const boot = (controller: Type) => {
      @Module({ imports: [TypeOrmModule.forFeature([Workspace])], controllers: [controller] })
      class Routes {}
      return bootApp({ extensions: [defineExtension({ name: 'held', module: Routes })] });
    };
    await expect(boot(HeldController)).rejects.toThrow(
      "HeldController.rename: its controller injects a repository, 'workspaces'. In a route that writes use tx.manager.getRepository(…)",
    );
    await (await boot(CountsController)).close();
  });
});
