import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { bootApp } from '../harness/app.js';
import { temporaryFolder } from '../harness/service.js';

const COMMAND = 'npm run --silent cli -- key create --workspace default --user owner@localhost';

describe('The first boot says how to make a key (reference §16)', () => {
  const folder = temporaryFolder();
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => folder.remove());

  it.each([
    [{}, COMMAND],
    [{ DATA_DIR: join(folder.path, 'data') }, `DATA_DIR=${join(folder.path, 'data')} ${COMMAND}`],
    [{ DATA_DIR: join(folder.path, "of 'us'") }, `DATA_DIR='${folder.path}/of '\\''us'\\''' ${COMMAND}`],
  ])('with %j', async (env, command) => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
    const service = await bootApp({ env });
    await service.close();
    const made = log.mock.calls.flat().filter((said) => String(said).startsWith('Made the workspace'));
    expect(made).toEqual([`Made the workspace 'default' and its owner owner@localhost. A key: ${command}`]);
  });
});
