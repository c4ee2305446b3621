import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Body, Controller, Get, Module, Post, type Type } from '@nestjs/common';
import { IsString } from 'class-validator';
import { configSection, defineExtension, Endpoint, errorCode, type Extension, named } from 'millwright';
import { z } from 'zod';
import { Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import { ENTITIES } from '../../src/operator/entities.js';
import { program } from '../../src/operator/verbs/program.js';
import { readEnv } from '../../src/platform/config/env.js';
import { ExtensionSet, VERB_GROUPS } from '../../src/platform/plugins/extension-set.js';
import { bootApp, bootWorker } from '../harness/app.js';
import { createDatabase } from '../harness/database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { COUNT_WORDS } from './count-words.js';
import { FOREIGN } from './foreign-module.js';

@Module({})
class Nothing {}
const rates = { free: { capacity: 1, windowSeconds: 60 }, paid: { capacity: 1, windowSeconds: 60 } };
const extension = (name: string, more: Partial<Extension> = {}) => defineExtension({ name, module: Nothing, ...more });
const set = (...list: Extension[]) => new ExtensionSet(list);
const run = () => Promise.resolve({});

describe('A name that is taken, or wrong, stops the boot with a sentence that says by whom', () => {
  it.each([
    ['two extensions of one name', ['a', {}], ['a', {}], `two extensions are called 'a'`],
    [
      'a scope of ours',
      ['tasks', { scopes: ['tasks:read'] }],
      ['b', {}],
      `the scope 'tasks:read' is brought by Millwright and by the extension 'tasks'`,
    ],
    [
      'a scope that is not its own',
      ['a', { scopes: ['b:read'] }],
      ['b', {}],
      `'a' brings the scope 'b:read'; its scopes are`,
    ],
    [
      'a policy of ours',
      ['a', { policies: { file_upload: rates } }],
      ['b', {}],
      `the rate-limit policy 'file_upload' is brought by Millwright and by the extension 'a'`,
    ],
    [
      'a policy of another',
      ['a', { policies: { export: rates } }],
      ['b', { policies: { export: rates } }],
      `the rate-limit policy 'export' is brought by the extension 'a' and by the extension 'b'`,
    ],
    [
      'a policy that is smaller for those who pay',
      ['a', { policies: { export: { ...rates, paid: { capacity: 1, windowSeconds: 61 } } } }],
      ['b', {}],
      `'a' brings a rate-limit policy that cannot be: paid.policies.export, at least what a free workspace has`,
    ],
    [
      'an error code of ours',
      ['a', { errors: [errorCode('not_owner', 403, 'forbidden')] }],
      ['b', {}],
      `the error code 'not_owner' is brought by Millwright and by the extension 'a'`,
    ],
    [
      'an error code of another',
      ['a', { errors: [errorCode('closed', 409, 'conflict')] }],
      ['b', { errors: [errorCode('closed', 403, 'forbidden')] }],
      `the error code 'closed' is brought by the extension 'a' and by the extension 'b'`,
    ],
    [
      'a status that the document has not for every route',
      ['a', { errors: [errorCode('teapot', 418 as 409, 'conflict')] }],
      ['b', {}],
      `'teapot' with the status 418; one of 400, 402, 403, 404, 409 is expected`,
    ],
    ['a name in capitals', ['Crm', {}], ['b', {}], 'a name of small letters, digits and hyphens'],
  ] as [string, [string, Partial<Extension>], [string, Partial<Extension>], string][])('%s', (_title, a, b, said) => {
    expect(() => set(extension(...a), extension(...b))).toThrow(said);
  });

  it('a group of verbs of ours, or two verbs of one name', () => {
    const command = { description: 'x', run };
    expect(() => set(extension('key', { commands: { x: command } }))).toThrow(
      `the group of verbs 'key' is brought by Millwright and by the extension 'key'`,
    );
    expect(() => set(extension('help', { commands: { x: command } }))).toThrow(
      `the group of verbs 'help' is brought by Millwright`,
    );
    expect(() => set(extension('a', { commands: { show: command, 'show <id>': command } }))).toThrow(
      `the extension 'a' brings two verbs called 'show'`,
    );
    expect(program(set()).commands.map((group) => group.name())).toEqual(VERB_GROUPS);
  });

  it.each(['Show', 'show <id> <more>', 'show <id...>', 'show [id] --all'])("a verb '%s'", (usage) => {
    expect(() => set(extension('a', { commands: { [usage]: { description: 'x', run } } }))).toThrow(
      `brings the verb '${usage}'; a word and at most one argument are expected`,
    );
  });

  it('a table of ours, or of another extension, whether its name is written or made of the class', () => {
    @Entity('tasks')
    class Job {
      @PrimaryColumn('uuid') id: string;
    }
    @Entity()
    class CallNote {
      @PrimaryColumn('uuid') id: string;
    }
    @Entity('call_note')
    class Note {
      @PrimaryColumn('uuid') id: string;
    }
    const tables = (...list: Extension[]) => set(...list).entitiesBeside(ENTITIES);
    expect(() => tables(extension('a', { entities: [Job] }))).toThrow(
      `the table 'tasks' is brought by Millwright and by the extension 'a'`,
    );
    expect(() => tables(extension('a', { entities: [CallNote] }), extension('b', { entities: [Note] }))).toThrow(
      `the table 'call_note' is brought by the extension 'a' and by the extension 'b'`,
    );
    expect(tables(extension('a', { entities: [Note] }))).toEqual([...ENTITIES, Note]);
  });

  it('an entity that TypeORM cannot read is no fault of DATABASE_URL', async () => {
    @Entity('keyless')
    class Keyless {}
    const booted = bootApp({ extensions: [extension('a', { entities: [Keyless] })] });
    await expect(booted).rejects.toThrow(/^Entity "Keyless" does not have a primary column/);
    @Entity('lost')
    class Lost {
      @ManyToOne(() => {
        throw new TypeError('nothing to relate to');
      })
      other?: object;
    }
    const lost = bootApp({ extensions: [extension('a', { entities: [Lost] })] });
    await expect(lost).rejects.toThrow(/^nothing to relate to/);
  });

  it('a figure', async () => {
    const counts = extension('a', { metrics: (metrics) => void metrics.counter('runs_ended_total', 'x') });
    await expect(bootApp({ extensions: [counts] })).rejects.toThrow(
      /The extension 'a' cannot register its figures: .*millwright_runs_ended_total/,
    );
  });

  const answer = z.strictObject({ a: z.string() });
  const boot = (...controllers: Type[]) => {
    @Module({ controllers })
    class Routes {}
    return bootApp({ extensions: [extension('a', { module: Routes })] });
  };
  const contract = { summary: 'Read', policy: 'resource_read', scopes: ['tasks:read'], answer } as const;

  it('a path of ours, whatever its parameters are called', async () => {
    @Controller('v1/tasks')
    class MineController {
      @Get(':id')
      @Endpoint(contract)
      read() {
        return { a: '' };
      }
    }
    await expect(boot(MineController)).rejects.toThrow(
      /(TasksController\.get and MineController\.read|MineController\.read and TasksController\.get) both answer GET \/v1\/tasks\/:/,
    );
  });

  it('an operation of the document', async () => {
    @Controller('v1/a')
    class TasksController {
      @Get()
      @Endpoint(contract)
      list() {
        return { a: '' };
      }
    }
    await expect(boot(TasksController)).rejects.toThrow(
      /Two operations would be called 'tasksList' in the document: .*\/v1\/tasks.*Rename one/,
    );
  });

  it('a schema of an answer', () => {
    named('Clash', z.strictObject({ colour: z.string() }));
    expect(() => named('Clash', z.strictObject({ shape: z.string() }))).toThrow(
      `Two schemas are called 'Clash' in the document: one has colour, the other shape. Rename one.`,
    );
  });

  it('a body, of another body or of an answer', async () => {
    class CreateProjectBody {
      @IsString()
      colour: string;
    }
    class Project {
      @IsString()
      colour: string;
    }
    const withBody = (type: Type) => {
      @Controller('v1/a')
      class BodiesController {
        @Post()
        @Endpoint({ ...contract, scopes: ['tasks:write'] })
        make(_body: object) {
          return { a: '' };
        }
      }
      Body()(BodiesController.prototype, 'make', 0);
      Reflect.defineMetadata('design:paramtypes', [type], BodiesController.prototype, 'make');
      return BodiesController;
    };
    await expect(boot(withBody(CreateProjectBody))).rejects.toThrow(
      /'CreateProject' in the document: .*CreateProjectDto with .*name.* and CreateProjectBody with colour|CreateProjectBody with colour and CreateProjectDto with /,
    );
    await expect(boot(withBody(Project))).rejects.toThrow(`'Project' in the document: one of a body, one of an answer`);
  });

  it('a plugin of one seam', async () => {
    const booted = bootWorker({ extensions: [FOREIGN, COUNT_WORDS] });
    await expect(booted).rejects.toThrow(
      /'count_words': (ForeignCountTool and CountWordsTool|CountWordsTool and ForeignCountTool)/,
    );
  });

  it('a route names a scope or a policy that nobody brings', async () => {
    const of = (more: object) => {
      @Controller('v1/a')
      class RoutesController {
        @Get()
        @Endpoint({ ...contract, ...more })
        read() {
          return { a: '' };
        }
      }
      return boot(RoutesController);
    };
    await expect(of({ scopes: ['taks:read'] })).rejects.toThrow(
      /RoutesController\.read names the scope 'taks:read', which nobody brings\. Known: projects:read, /,
    );
    await expect(of({ policy: 'resource_raed' })).rejects.toThrow(/names the rate-limit policy 'resource_raed'/);
  });
});

describe('The verbs of an extension', () => {
  it('are given a switch as true, a text as it is, and the argument that may be left out', async () => {
    const echo = extension('echo', {
      commands: {
        'show [id]': {
          description: 'what it is given',
          options: { '--all': 'a switch', '--by <name>': 'a text' },
          run: (_services, options, argument) => Promise.resolve({ given: { ...options, argument } }),
        },
      },
    });
    const db = await createDatabase();
    try {
      const operator = new Operator({ db }, {}, [echo]);
      const full = await operator.json('echo', 'show', 'x1', '--all', '--by', 'me');
      expect(full).toEqual({ given: { all: true, by: 'me', argument: 'x1' } });
      expect(await operator.json('echo', 'show')).toEqual({ given: { argument: '' } });
    } finally {
      await db.drop();
    }
  });
});

describe('The section of an extension in CONFIG_FILE', () => {
  class Section extends configSection(z.strictObject({ url: z.url(), retries: z.int().default(3) })) {}
  const extensions = set(extension('crm', { config: Section }));
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const read = (json: object, further?: ExtensionSet) => {
    const path = join(folder.path, 'config.json');
    writeFileSync(path, JSON.stringify(json));
    return readEnv({ CONFIG_FILE: path }, further);
  };
  const crm = (section: object) => () => read({ extensions: { crm: section } }, extensions);

  it('is checked at boot; what is wrong is named by its path', () => {
    const url = 'https://crm.example';
    expect(() => readEnv({}, extensions)).toThrow('CONFIG_FILE, extensions.crm.url: ');
    expect(crm({ url, retries: 'x' })).toThrow('CONFIG_FILE, extensions.crm.retries: ');
    expect(crm({ url, retry: 1 })).toThrow(/CONFIG_FILE, extensions\.crm: .*retry/);
    expect(crm({ url })().file.extensions).toEqual({ crm: { url, retries: 3 } });
  });

  it('is refused when no extension with a section has its name', () => {
    expect(() => read({ extensions: { cmr: {}, crm: { url: 'https://crm.example' } } }, extensions)).toThrow(
      /CONFIG_FILE, extensions: .*cmr/,
    );
    expect(() => read({ extensions: { crm: {} } })).toThrow(/CONFIG_FILE, extensions: .*crm/);
  });
});
