import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, Max, Min } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { digits } from '../../platform/http/pages.js';

const MOST_VERSION = 2_147_483_647;
const VERSION = `version must be a whole number from 1 to ${MOST_VERSION}`;

export class ChangeSkillDto {
  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: 'Whether tasks have it, in its newest version, that name no skills.' })
  default?: boolean;
}

export class SkillContentQuery {
  @OptionalNotNull()
  @IsInt({ message: VERSION })
  @Min(1, { message: VERSION })
  @Max(MOST_VERSION, { message: VERSION })
  @Transform(digits)
  @Documented({ description: 'Without it the newest.' })
  version?: number;
}
