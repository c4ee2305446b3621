// The service of this process: the environment and the list of extensions, composed.
import { Module } from '@nestjs/common';
import { composeApp } from './compose.js';
import { EXTENSIONS } from './extensions.js';
import { readEnv } from './platform/config/env.js';
import { ExtensionSet } from './platform/plugins/extension-set.js';

const extensions = new ExtensionSet(EXTENSIONS);
/** The environment of this process, checked together with what the extensions read of it. */
export const env = readEnv(undefined, extensions);

/** The service, composed for {@link env}. Boots as it is in the Nest testing module. */
@Module(composeApp(env, extensions))
export class AppModule {}
