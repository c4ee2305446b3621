import { IsString } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';

const SNAPSHOT = { description: 'One of the snapshots of the task; the newest is the default.' };

export class ListWorkdirQuery extends PageQuery {
  @OptionalNotNull()
  @IsString()
  @Documented({
    description:
      'A folder: relative to `/workdir`, which is the default, or absolute there, in `/tmp` or in `/home/agent`.',
  })
  path?: string;

  @OptionalNotNull()
  @IsString()
  @Documented(SNAPSHOT)
  snapshot?: string;
}

export class WorkdirContentQuery {
  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'A file: relative to `/workdir`, or absolute there, in `/tmp` or in `/home/agent`.' })
  path?: string;

  @OptionalNotNull()
  @IsString()
  @Documented(SNAPSHOT)
  snapshot?: string;
}
