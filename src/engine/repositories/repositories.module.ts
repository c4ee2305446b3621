// The repositories that tasks work on: which may be named, how they are cloned, how they come into a workdir and what is changed in them.
import { Module } from '@nestjs/common';
import { HostReader } from './host-reader.js';
import { RepositoryRules } from './repository-rules.js';
import { RepositoryStore } from './repository-store.js';

@Module({
  providers: [HostReader, RepositoryRules, RepositoryStore],
  exports: [HostReader, RepositoryRules, RepositoryStore],
})
export class RepositoriesModule {}
