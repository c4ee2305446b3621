// How the pull requests of tasks stand: asked of their hosts. Only in processes that work.
import { Module } from '@nestjs/common';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { PullRequestStates } from './pull-request-states.js';

@Module({ imports: [RepositoriesModule], providers: [PullRequestStates] })
export class PullRequestsModule {}
