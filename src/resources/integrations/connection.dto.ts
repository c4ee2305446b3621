import { IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';

export const DAY_SECONDS = 86_400;
const SECRET =
  'What the provider signs with, where it makes that itself: 8 to 500 visible ASCII characters, in the form of the provider. Made when not given.';

export class ConnectDto {
  @IsIn(['workspace', 'user'])
  @Documented({ description: "Whose it is: the workspace's, or your own, which comes first for your automations." })
  scope: 'workspace' | 'user';

  @OptionalNotNull()
  @IsString()
  @Documented({ description: SECRET })
  secret?: string;
}

export class RotateConnectionDto {
  @OptionalNotNull()
  @IsInt()
  @Min(0)
  @Max(30 * DAY_SECONDS)
  @Documented({ description: 'How long the old secret is taken too, in seconds; 86,400 when not given.' })
  overlapSeconds?: number;

  @OptionalNotNull()
  @IsString()
  @Documented({ description: SECRET })
  secret?: string;
}
