import { Controller, Get } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { BranchListService } from './branch-list.service.js';
import { ListBranchesQuery, ListRepositoriesQuery } from './repository-list.dto.js';
import { RepositoryListService } from './repository-list.service.js';
import { branchPage, repositoryPage } from './repository-list.view.js';

const READS = { policy: 'resource_read', scopes: ['projects:read'], asksOutside: true } as const;

@Controller('v1/repositories')
export class RepositoryListController {
  constructor(
    private readonly repositories: RepositoryListService,
    private readonly branches: BranchListService,
  ) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List repositories',
    description:
      'What this workspace may use by its connections and the entries of the operator: those that its tasks used last first, then those that were pushed last. Hosts are asked at most once a minute, with `refresh` on the first page at most every two seconds. `partial` says that there may be more.',
    answer: repositoryPage,
  })
  async list(@Auth() auth: AuthContext, @Page(ListRepositoriesQuery) page: PageRequest<ListRepositoriesQuery>) {
    const { rows, nextCursor, partial } = await this.repositories.list(auth, page);
    return { repositories: rows, nextCursor, partial };
  }

  @Get('branches')
  @Endpoint({
    ...READS,
    summary: 'List the branches of a repository',
    description:
      'The default branch first, then by name. Also of a repository that no connection is for, when everybody may read it.',
    answer: branchPage,
  })
  async listBranches(@Auth() auth: AuthContext, @Page(ListBranchesQuery) page: PageRequest<ListBranchesQuery>) {
    const { rows, nextCursor, partial } = await this.branches.list(auth, page);
    return { branches: rows, nextCursor, partial };
  }
}
