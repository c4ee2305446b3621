import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { FieldsPipe } from '../../platform/http/fields.pipe.js';
import { type PageQuery, type PageRequest, Pages, setPageQuery } from '../../platform/http/pages.js';
import { canonicalPath } from '../../platform/http/request.js';
import { authOf } from './auth.decorator.js';

interface Asked {
  req: Request;
  type: Type<PageQuery>;
}

/** Checks the query and opens the page: the cursor is bound to route, workspace, user and filters (reference §11). */
@Injectable()
class PagePipe implements PipeTransform<Asked, Promise<PageRequest>> {
  private readonly fields = new FieldsPipe();

  constructor(private readonly pages: Pages) {}

  async transform({ req, type }: Asked): Promise<PageRequest> {
    const query = (await this.fields.transform(req.query, { type: 'query', metatype: type })) as PageQuery;
    const { limit: _limit, cursor: _cursor, ...filters } = query;
    const { workspaceId, userId } = authOf(req);
    return this.pages.open(query, { route: `GET ${canonicalPath(req.path)}`, workspaceId, userId, filters });
  }
}

const take = createParamDecorator((type: Type<PageQuery>, context: ExecutionContext): Asked => {
  return { req: context.switchToHttp().getRequest<Request>(), type };
});

/**
 * `@Page(ListNotesQuery) page: PageRequest<ListNotesQuery>`: the page of a collection that the client asks for. It stands in
 * place of `@Query()`. Throws 400 `invalid_query` and `invalid_cursor`.
 */
export function Page(type: Type<PageQuery>): ParameterDecorator {
  return (controller, handler, index) => {
    if (handler === undefined) throw new Error('@Page stands at a parameter of a handler.');
    setPageQuery(controller, handler, type);
    take(type, PagePipe)(controller, handler, index);
  };
}
