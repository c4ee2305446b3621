import { IsIn } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import type { Role } from '../auth/auth-context.js';
import { ROLES } from './memberships.service.js';

export class CreateServiceAccountDto {
  @Name('What it is called in lists. No other service account of the workspace has it; capitals make no other one.')
  name: string;

  @OptionalNotNull()
  @IsIn(ROLES)
  @Documented({ description: 'What it may do: `member` when not given. Only an owner makes an owner.' })
  role?: Role;
}
